#pragma once

#include <fmt/core.h>

#include <string>

namespace jointer::test {

// Two products, each followed by an activation that is recomputed. The backward needs the
// recomputed values one after the other.
inline constexpr const char* kTwoProducts = R"(
  w1: f32[8,8] = parameter
  w2: f32[8,8] = parameter
  x: f32[8,8] = input
  dy: f32[8,8] = tangent
  mm1: f32[8,8] = aten.mm(x, w1)        {layers.0}
  a1: f32[8,8] = aten.silu(mm1)         {layers.0 PREFER_RECOMPUTE}
  mm2: f32[8,8] = aten.mm(a1, w2)       {layers.1}
  a2: f32[8,8] = aten.silu(mm2)         {layers.1 PREFER_RECOMPUTE}
  y: f32[8,8] = aten.neg(a2)
  m2: f32[8,8] = aten.mul.Tensor(dy, a2)          {layers.1 backward}
  g2: f32[8,8] = aten.silu_backward(m2, mm2)      {layers.1 backward}
  t2: f32[8,8] = aten.t(a1)                       {layers.1 backward}
  gw2: f32[8,8] = aten.mm(t2, g2)                 {layers.1 backward}
  g1: f32[8,8] = aten.mul.Tensor(g2, a1)          {layers.0 backward}
  return [y, None, gw2, g1]
)";

// A collective whose wait comes before the product that could hide it: sink_waits shortens the
// step.
inline constexpr const char* kEarlyWait = R"(
  group dp: 0 1
  x: f32[4096,4096] = input
  s: f32[64] = input
  dy: f32[4096,4096] = tangent
  ar: f32[64] = _c10d_functional.all_reduce(s, 'sum', 'dp')
  w: f32[64] = _c10d_functional.wait_tensor(ar)
  mm: f32[4096,4096] = aten.mm(x, x)
  act: f32[4096,4096] = aten.sigmoid(mm)
  y: f32[4096,4096] = aten.mul.Tensor(mm, act)
  z: f32[64] = aten.neg(w)
  d: f32[4096,4096] = aten.mul.Tensor(dy, act)  {backward}
  gx: f32[4096,4096] = aten.mul.Tensor(d, mm)   {backward}
  return [y, z, gx]
)";

// A product with a gathered weight. The size of the other factor is symbolic.
inline constexpr const char* kSymbolicGather = R"(
  w: f32[16,64] = parameter
  x: f32[u0,64] = input
  dy: f32[u0,64] = tangent
  g: f32[64,64] = _c10d_functional.all_gather_into_tensor(w, 4, 'fsdp')
  v: f32[64,64] = _c10d_functional.wait_tensor(g)
  y: f32[u0,64] = aten.mm(x, v)
  t: f32[64,64] = aten.t(v)           {backward}
  gx: f32[u0,64] = aten.mm(dy, t)     {backward}
  return [y, None, gx]
)";

// How torch leaves a mutated input: the copy follows the backward, which reads the input, and
// belongs to the forward.
inline constexpr const char* kReadByTheBackward = R"(
  x: f32[64] = input
  state: f32[64] = buffer
  dy: f32[64] = tangent
  y: f32[64] = aten.mul.Tensor(x, state)
  next: f32[64] = aten.add.Tensor(state, 1)
  g: f32[64] = aten.mul.Tensor(dy, state)  {backward}
  update: f32[64] = aten.copy_(state, next)
  return [y, g, None]
)";

// A write in place, which the minimum cut refuses.
inline constexpr const char* kWriteInPlace = R"(
  x: f32[64] = input
  dy: f32[64] = tangent
  a: f32[64] = aten.cos(x)
  b: f32[64] = aten.add_.Tensor(a, 1)
  c: f32[64] = aten.silu(b)
  g: f32[64] = aten.silu_backward(dy, b)  {backward}
  return [c, g]
)";

// A small joint graph as a literal: `layers` matrix products, each followed by calls that are cheap
// to recompute. The first reads an input and the last has a different end; all others are alike.
inline std::string layered_joint(int layers) {
  std::string text = "x: f32[64,64] = input\n";
  for (int i = 0; i < layers; ++i) text += fmt::format("w{}: f32[64,64] = parameter\n", i);
  text += "dy: f32[64,64] = tangent\n";
  std::string in = "x";
  for (int i = 0; i < layers; ++i) {
    text += fmt::format(
        "mm{0}: f32[64,64] = aten.mm({1}, w{0})               {{layers.{0}.wq}}\n"
        "act{0}: f32[64,64] = aten.sigmoid(mm{0})             {{layers.{0}}}\n"
        "out{0}: f32[64,64] = aten.mul.Tensor(mm{0}, act{0})  {{layers.{0}}}\n",
        i, in);
    in = fmt::format("out{}", i);
  }
  text += fmt::format(
      "y: f32[64,64] = aten.sin({0})  {{norm}}\n"
      "c: f32[64,64] = aten.cos({0})  {{norm backward}}\n"
      "e{1}: f32[64,64] = aten.mul.Tensor(dy, c)  {{norm backward}}\n",
      in, layers);
  std::string gradients;
  for (int i = layers; i-- > 0;) {
    text += fmt::format(
        "d{0}: f32[64,64] = aten.mul.Tensor(e{1}, act{0})  {{layers.{0} backward}}\n"
        "e{0}: f32[64,64] = aten.mul.Tensor(d{0}, mm{0})   {{layers.{0} backward}}\n"
        "t{0}: f32[64,64] = aten.t({2})                    {{layers.{0}.wq backward}}\n"
        "gw{0}: f32[64,64] = aten.mm(t{0}, e{0})           {{layers.{0}.wq backward}}\n",
        i, i + 1, i == 0 ? "x" : fmt::format("out{}", i - 1));
    gradients = fmt::format(", gw{}", i) + gradients;
  }
  return text + "return [y" + gradients + "]\n";
}

}  // namespace jointer::test
