#include "views/session/sac/fused_recompute.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/index.h"
#include "tests/support/hand_made_kernels.h"
#include "tests/support/snapshots.h"

namespace jointer::views {
namespace {

using KernelKind = kernels::Kernel::Kind;

// The plan saves `a`; `b` and `c` are recomputed from it, and the backward reads `c`.
const char kJoint[] = R"(
  x: f32[1024,1024] = input
  w: f32[1024,1024] = parameter
  dy: f32[1024,1024] = tangent
  a: f32[1024,1024] = aten.mm(x, w)             {one}
  b: f32[1024,1024] = aten.mul.Tensor(a, a)     {one}
  c: f32[1024,1024] = aten.exp(b)               {one}
  y: f32[1024,1024] = aten.mm(c, w)             {two}
  g: f32[1024,1024] = aten.mul.Tensor(dy, c)    {two backward}
  h: f32[1024,1024] = aten.mul.Tensor(g, a)     {one backward}
  gw: f32[1024,1024] = aten.mm(h, x)            {one backward}
  return [y, gw]
)";

class FusedRecomputeTest : public ::testing::Test {
 protected:
  FusedRecomputeTest() {
    state_.snapshot = snapshot_;
    state_.tensor_by_node.assign(snapshot_->graph.node_count(), -1);
    add("a", PlanAction::save);
    add("b", PlanAction::recompute);
    add("c", PlanAction::recompute);
  }
  void add(const char* name, PlanAction action) {
    const NodeId node = snapshot_->graph.find(name);
    state_.tensor_by_node[node.index()] = static_cast<std::int32_t>(state_.tensors.size());
    state_.tensors.push_back({.node = node, .action = action});
  }
  // The kernels of the joint graph, of which the last one before `gw` has these nodes.
  [[nodiscard]] FusedCosts costs(const std::vector<test::HandMadeKernel>& of_backward) const {
    std::vector<test::HandMadeKernel> all{{KernelKind::external, {"a"}, 1, 1},
                                          {KernelKind::pointwise, {"b", "c"}, 1, 1},
                                          {KernelKind::external, {"y"}, 1, 1}};
    all.insert(all.end(), of_backward.begin(), of_backward.end());
    CompiledPart part = test::hand_made_part(snapshot_->graph, all);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].kind == KernelKind::pointwise) part.ir.ops[i].kind = kernels::Op::Kind::pointwise;
    return fused_recompute_ns(state_, *test::hand_made_kernels(snapshot_, std::move(part)));
  }
  // The time to read a tensor.
  [[nodiscard]] std::int64_t read_ns() const {
    const DeviceDescription& device = snapshot_->analysis.device;
    return std::llround(4.0 * 1024 * 1024 / (device.memory_gbps * device.efficiency.memory));
  }

  SnapshotPtr snapshot_ = test::snapshot_of(kJoint);
  SacState state_;
};

TEST_F(FusedRecomputeTest, CostsTheAdditionalReads) {
  const FusedCosts found =
      costs({{KernelKind::pointwise, {"g"}, 1, 1}, {KernelKind::pointwise, {"h"}, 1, 1}});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[2], read_ns()) << "c needs a, which its reader does not read";
  EXPECT_FALSE(found[0]) << "a product is not element-wise";
  EXPECT_FALSE(found[1]) << "nothing in the backward reads b";
}

TEST_F(FusedRecomputeTest, CostsNothingIfTheReaderHasTheSources) {
  EXPECT_EQ(costs({{KernelKind::pointwise, {"g", "h"}, 1, 1}})[2], 0);
}

TEST_F(FusedRecomputeTest, ALibraryCannotComputeItsInput) {
  EXPECT_FALSE(costs({{KernelKind::external, {"g"}, 1, 1}})[2]);
}

TEST_F(FusedRecomputeTest, AChainIsAsLongAsNothingIsSaved) {
  state_.tensors[1].action = PlanAction::save;
  EXPECT_EQ(costs({{KernelKind::pointwise, {"g", "h"}, 1, 1}})[2], read_ns())
      << "b, which the reader does not read";
  state_.tensors[1].action = PlanAction::recompute;
  state_.tensors[0].action = PlanAction::recompute;
  EXPECT_FALSE(costs({{KernelKind::pointwise, {"g", "h"}, 1, 1}})[2])
      << "the chain contains a product";
}

TEST_F(FusedRecomputeTest, KernelsOfAnotherGraphSayNothing) {
  const SnapshotPtr other = test::snapshot_of(test::kSmallStep);
  const FusedCosts found = fused_recompute_ns(
      state_, *test::hand_made_kernels(other, test::small_step_part(other->graph)));
  EXPECT_EQ(found, FusedCosts(3));
}

// The order of the nodes has changed, and new kernels are not known yet.
TEST_F(FusedRecomputeTest, KernelsOfAnEarlierStateSayNothing) {
  ASSERT_TRUE(costs({{KernelKind::pointwise, {"g", "h"}, 1, 1}})[2]);
  const SnapshotPtr earlier = snapshot_;
  Graph graph = earlier->graph;
  std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  std::iter_swap(std::ranges::find(order, graph.find("y")),
                 std::ranges::find(order, graph.find("g")));
  graph.set_order(order);
  state_.snapshot = make_snapshot(std::move(graph), {}).value();
  EXPECT_EQ(costs({{KernelKind::pointwise, {"g", "h"}, 1, 1}}), FusedCosts(3));
}

}  // namespace
}  // namespace jointer::views
