#pragma once

// Graphs for ranks on the fake device.

namespace jointer::test {

// A gather, two products, and a reduction, in a group of one rank.
inline constexpr const char* kShardedStep = R"(
  group fsdp: 0
  w: f32[64,64] = parameter
  x: f32[64,64] = input
  g: f32[64,64] = _c10d_functional.all_gather_into_tensor(w, 1, 'fsdp')
  gw: f32[64,64] = _c10d_functional.wait_tensor(g)
  a: f32[64,64] = aten.mm(x, gw)
  b: f32[64,64] = aten.relu(a)
  c: f32[64,64] = aten.mm(b, gw)
  r: f32[64,64] = _c10d_functional.reduce_scatter_tensor(c, 'sum', 1, 'fsdp')
  rw: f32[64,64] = _c10d_functional.wait_tensor(r)
  d: f32[64,64] = aten.add.Tensor(rw, x)
  return [d]
)";

// The same in a group of two.
inline constexpr const char* kStepOfTwoRanks = R"(
  group fsdp: 0 1
  w: f32[64,64] = parameter
  x: f32[64,128] = input
  g: f32[128,64] = _c10d_functional.all_gather_into_tensor(w, 2, 'fsdp')
  gw: f32[128,64] = _c10d_functional.wait_tensor(g)
  a: f32[64,64] = aten.mm(x, gw)
  r: f32[32,64] = _c10d_functional.reduce_scatter_tensor(a, 'sum', 2, 'fsdp')
  rw: f32[32,64] = _c10d_functional.wait_tensor(r)
  return [rw]
)";

// An activation of 4 MiB that is on the host while other calls run.
inline constexpr const char* kOffloadingStep = R"(
  x: f32[1024,1024] = input
  a: f32[1024,1024] = aten.relu(x)
  device cpu
  off: f32[1024,1024] = ao.offload(a)
  device cuda:0
  b: f32[1024,1024] = aten.sin(x)
  device cpu
  host: f32[1024,1024] = ao.wait_tensor(off, a)
  device cuda:0
  back: f32[1024,1024] = ao.reload(host, 'cuda:0')
  c: f32[1024,1024] = aten.cos(b)
  again: f32[1024,1024] = ao.wait_tensor(back)
  d: f32[1024,1024] = aten.mul.Tensor(again, c)
  return [d]
)";

}  // namespace jointer::test
