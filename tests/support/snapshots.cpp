#include "tests/support/snapshots.h"

#include <gtest/gtest.h>

#include "core/graph/literal.h"

namespace jointer::test {

const std::string_view kSmallStep = R"(
  group tp: 0 1
  w0: f32[64,64] = parameter
  w1: f32[64,64] = parameter
  x: f32[8,64] = input
  dy: f32[8,64] = tangent
  mm: f32[8,64] = aten.mm(x, w0)                                  {layers.0.wq MUST_SAVE}
  relu: f32[8,64] = aten.relu(mm)                                 {layers.0}
  mm_1: f32[8,64] = aten.mm(relu, w1)                             {layers.1.wq MUST_SAVE}
  relu_1: f32[8,64] = aten.relu(mm_1)                             {layers.1}
  ar: f32[8,64] = _c10d_functional.all_reduce(relu_1, 'sum', 'tp')  {norm}
  wt: f32[8,64] = _c10d_functional.wait_tensor(ar)                {norm}
  y: f32[8,64] = aten.mul.Tensor(wt, relu_1)                      {norm}
  g1: f32[8,64] = aten.mul.Tensor(dy, relu_1)                     {norm backward}
  t1: f32[64,8] = aten.t(relu)                                    {layers.1.wq backward}
  gw1: f32[64,64] = aten.mm(t1, g1)                               {layers.1.wq backward}
  t0: f32[64,8] = aten.t(x)                                       {layers.0.wq backward}
  gw0: f32[64,64] = aten.mm(t0, g1)                               {layers.0.wq backward}
  return [y, gw0, gw1]
)";

views::SnapshotPtr snapshot_of(std::string_view literal) {
  auto graph = parse_literal(literal);
  if (!graph) {
    ADD_FAILURE() << graph.error().message;
    return nullptr;
  }
  auto snapshot = views::make_snapshot(*std::move(graph), {});
  if (!snapshot) {
    ADD_FAILURE() << snapshot.error().message;
    return nullptr;
  }
  return *snapshot;
}

}  // namespace jointer::test
