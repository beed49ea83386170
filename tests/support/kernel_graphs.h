#pragma once

// Small graphs, as literals, whose kernels are easy to predict.

namespace jointer::test {

// Three products: the second reads the first, and the third reads neither.
inline constexpr const char* kTwoProductChains = R"(
  x: f32[1024,1024] = input
  y: f32[1024,1024] = input
  a: f32[1024,1024] = aten.mm(x, y)
  b: f32[1024,1024] = aten.mm(a, y)
  c: f32[1024,1024] = aten.mm(y, y)
  return [b, c]
)";

// Four kernels: a and b fuse, two products, and d.
inline constexpr const char* kFusedAndProducts = R"(
  x: f32[1024,1024] = input
  y: f32[1024,1024] = input
  a: f32[1024,1024] = aten.mul.Tensor(x, y)
  b: f32[1024,1024] = aten.exp(a)
  c: f32[1024,1024] = aten.mm(b, y)
  d: f32[1024,1024] = aten.relu(c)
  e: f32[1024,1024] = aten.mm(y, y)
  return [b, d, e]
)";

// Two kernels: a and b fuse, and a product.
inline constexpr const char* kFusedAndProduct = R"(
  x: f32[64,64] = input
  a: f32[64,64] = aten.mul.Tensor(x, x)
  b: f32[64,64] = aten.exp(a)
  c: f32[64,64] = aten.mm(b, x)
  return [c]
)";

}  // namespace jointer::test
