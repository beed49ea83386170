#pragma once

#include <string_view>

namespace jointer::test {

// Two blocks with an FSDP all-gather each. At the peak, the first block's matrices are live.
// Gathering for the second block any earlier raises the peak.
inline constexpr std::string_view kTwoBlocks = R"(
  kind train_step
  group dp: 0 1
  a: bf16[512,1024] = parameter
  b: bf16[512,1024] = parameter
  x: bf16[1024,1024] = input
  y: bf16[8,1024] = input
  ag_a: bf16[1024,1024] = _c10d_functional.all_gather_into_tensor(a, 2, 'dp')  {layers.0.wq}
  wt_a: bf16[1024,1024] = _c10d_functional.wait_tensor(ag_a)  {layers.0.wq}
  i: bf16[1024,1024] = aten.mm(x, wt_a)  {layers.0.wq}
  e: bf16[1024,1024] = aten.mm(i, i)  {layers.0.wq}
  s: bf16[8,1024] = aten.mm(y, e)  {layers.0.wq}
  ag_b: bf16[1024,1024] = _c10d_functional.all_gather_into_tensor(b, 2, 'dp')  {layers.1.wq}
  wt_b: bf16[1024,1024] = _c10d_functional.wait_tensor(ag_b)  {layers.1.wq}
  j: bf16[8,1024] = aten.mm(s, wt_b)  {layers.1.wq}
  return [j]
)";

// A block with an FSDP all-gather, and no backward.
inline constexpr std::string_view kOneBlock = R"(
  kind train_step
  group dp: 0 1
  a: bf16[2,4] = parameter
  x: bf16[4,4] = input
  ag: bf16[4,4] = _c10d_functional.all_gather_into_tensor(a, 2, 'dp')  {layers.0}
  wt: bf16[4,4] = _c10d_functional.wait_tensor(ag)  {layers.0}
  y: bf16[4,4] = aten.mm(x, wt)  {layers.0}
  return [y]
)";

}  // namespace jointer::test
