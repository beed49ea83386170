#pragma once

#include <fmt/core.h>

#include <string>

namespace jointer::test {

// A forward of identical layers. Each multiplies (a), gathers its weight (g), waits for it (v)
// right away, and multiplies with it (y): the product a would hide the gather if that started
// earlier.
inline std::string layered_gathers(int layers) {
  std::string text = "group fsdp: 0 1\n";
  for (int i = 0; i < layers; ++i) text += fmt::format("w{}: f32[2048,4096] = parameter\n", i);
  text += "x: f32[4096,4096] = input\n";
  for (int i = 0; i < layers; ++i)
    text += fmt::format(
        "a{0}: f32[4096,4096] = aten.mm({1}, {1})                                  {{layers.{0}}}\n"
        "g{0}: f32[4096,4096] = _c10d_functional.all_gather_into_tensor(w{0}, 2, 'fsdp')"
        "                                                              {{layers.{0}.wq}}\n"
        "v{0}: f32[4096,4096] = _c10d_functional.wait_tensor(g{0})     {{layers.{0}.wq}}\n"
        "y{0}: f32[4096,4096] = aten.mm(a{0}, v{0})                    {{layers.{0}.wq}}\n",
        i, i == 0 ? std::string("x") : fmt::format("y{}", i - 1));
  return text + fmt::format("return [y{}]\n", layers - 1);
}

}  // namespace jointer::test
