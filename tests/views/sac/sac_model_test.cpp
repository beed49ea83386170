#include "views/sac/sac_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <algorithm>
#include <functional>

#include "tests/support/joints.h"
#include "tests/support/snapshots.h"
#include "views/session/sac/sac_solver.h"

namespace jointer::views {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SacModelTest : public ::testing::Test {
 protected:
  SacModelTest() : snapshot_(test::snapshot_of(test::layered_joint(5))) { show({}); }

  void show(std::vector<PolicyChoice> choices) {
    auto state = solver_.state({snapshot_, snapshot_, {}, std::move(choices)});
    ASSERT_TRUE(state) << state.error().message;
    model_.set_state(*state);
  }
  [[nodiscard]] std::vector<std::string> names(int parent = -1) const {
    std::vector<std::string> result;
    for (const int row : model_.shown(parent)) result.push_back(model_.text(row, 0).toStdString());
    return result;
  }
  [[nodiscard]] NodeId node(std::string_view name) const { return snapshot_->graph.find(name); }
  [[nodiscard]] int row(std::string_view name) const { return model_.row_of(node(name)); }

  SnapshotPtr snapshot_;
  SacSolver solver_;
  SacModel model_;
  QAbstractItemModelTester tester_{&model_, QAbstractItemModelTester::FailureReportingMode::Fatal};
};

TEST_F(SacModelTest, EveryGroupingHasEachTensorOnce) {
  const std::size_t count = model_.state()->tensors.size();
  ASSERT_GT(count, 4U);
  for (const SacGrouping grouping :
       {SacGrouping::op, SacGrouping::module, SacGrouping::layer, SacGrouping::tensor}) {
    model_.set_grouping(grouping);
    EXPECT_EQ(model_.totals().things, count);
    for (const SacTensor& tensor : model_.state()->tensors) {
      const int leaf = model_.row_of(tensor.node);
      EXPECT_THAT(model_.nodes(leaf), ElementsAre(tensor.node));
    }
  }
}

// These costs arrive after the rows.
TEST_F(SacModelTest, RowsSortedByTheFusedCostStaySorted) {
  model_.set_grouping(SacGrouping::tensor);
  model_.sort(SacModel::fused_column, Qt::DescendingOrder);
  const std::size_t count = model_.state()->tensors.size();
  ASSERT_GT(count, 4U);
  for (const bool rises : {true, false}) {
    FusedCosts costs(count);
    for (std::size_t i = 0; i < count; ++i)
      costs[i] = static_cast<std::int64_t>(rises ? i : count - i);
    model_.set_fused_costs(model_.state(), std::move(costs));
    std::vector<std::int64_t> shown;
    for (const int each : model_.shown(-1))
      shown.push_back(model_.number(each, SacModel::fused_column).value_or(-1));
    EXPECT_TRUE(std::ranges::is_sorted(shown, std::ranges::greater())) << rises;
  }
}

TEST_F(SacModelTest, IdenticalLayersAreOneRow) {
  model_.set_grouping(SacGrouping::layer);
  int fold = -1;
  for (const int row : model_.shown(-1))
    if (model_.text(row, SacModel::name_column).contains(u'×')) fold = row;
  ASSERT_GE(fold, 0);
  // Below it, one row per position in the layers, with one tensor from each of them.
  const auto places = model_.shown(fold);
  ASSERT_FALSE(places.empty());
  const auto members = *model_.number(places.front(), SacModel::count_column);
  EXPECT_GE(members, 2);
  for (const int place : places) {
    EXPECT_EQ(model_.number(place, SacModel::count_column), members);
    EXPECT_EQ(static_cast<std::int64_t>(model_.shown(place).size()), members);
  }
  EXPECT_EQ(model_.number(fold, SacModel::count_column),
            members * static_cast<std::int64_t>(places.size()));
}

// Layer 1 has the same calls as layer 0 in a different order, as independent calls may.
constexpr const char* kOtherOrder = R"(
  x: f32[64,64] = input
  a0: f32[64,64] = aten.sin(x)              {layers.0}
  b0: f32[64,64] = aten.cos(x)              {layers.0}
  o0: f32[64,64] = aten.mul.Tensor(a0, b0)  {layers.0}
  b1: f32[64,64] = aten.cos(o0)             {layers.1}
  a1: f32[64,64] = aten.sin(o0)             {layers.1}
  o1: f32[64,64] = aten.mul.Tensor(a1, b1)  {layers.1}
  dy: f32[64,64] = tangent
  g1: f32[64,64] = aten.mul.Tensor(dy, b1)  {layers.1 backward}
  h1: f32[64,64] = aten.mul.Tensor(g1, a1)  {layers.1 backward}
  g0: f32[64,64] = aten.mul.Tensor(h1, b0)  {layers.0 backward}
  h0: f32[64,64] = aten.mul.Tensor(g0, a0)  {layers.0 backward}
  return [o1, h0]
)";

TEST(SacModel, IdenticalLayersAreOneRowInAnyOrder) {
  const SnapshotPtr snapshot = test::snapshot_of(kOtherOrder);
  SacModel model;
  model.set_state(state_as_captured(snapshot));
  model.set_grouping(SacGrouping::layer);
  const int fold = model.parent_row(model.parent_row(model.row_of(snapshot->graph.find("a0"))));
  ASSERT_GE(fold, 0);
  EXPECT_EQ(model.number(fold, SacModel::count_column), 4);
  // The same tensor of each layer, in the order of the first one.
  const auto places = model.shown(fold);
  ASSERT_EQ(places.size(), 2U);
  EXPECT_THAT(model.nodes(places[0]),
              ElementsAre(snapshot->graph.find("a0"), snapshot->graph.find("a1")));
  EXPECT_THAT(model.nodes(places[1]),
              ElementsAre(snapshot->graph.find("b0"), snapshot->graph.find("b1")));
}

TEST(SacModel, WithoutAPlanThereAreNoChains) {
  SacModel model;
  model.set_state(state_as_captured(test::snapshot_of(kOtherOrder)));
  for (const int column : {SacModel::time_column, SacModel::flops_column}) {
    const QString tip = model.data(model.index(0, column), Qt::ToolTipRole).toString();
    EXPECT_FALSE(tip.contains("chain") || tip.contains("recompute the tensor"))
        << tip.toStdString();
    EXPECT_TRUE(tip.contains("of the call")) << tip.toStdString();
  }
}

TEST_F(SacModelTest, TheTooltipOfAPolicySaysWhetherItCanBeChosen) {
  const auto tip = [](const SacModel& model) {
    return model.data(model.index(0, SacModel::policy_column), Qt::ToolTipRole).toString();
  };
  EXPECT_TRUE(tip(model_).contains("Press S, R or O to choose")) << tip(model_).toStdString();
  SacModel captured;
  captured.set_state(state_as_captured(test::snapshot_of(kOtherOrder)));
  EXPECT_FALSE(tip(captured).contains("Press")) << tip(captured).toStdString();
  EXPECT_TRUE(tip(captured).contains("are fixed")) << tip(captured).toStdString();
}

// Recomputing several tensors runs the calls that they share once.
TEST_F(SacModelTest, FiguresOfAGroupAreThoseOfItsTensorsTogether) {
  model_.set_grouping(SacGrouping::op);
  std::vector<NodeId> all;
  for (const SacTensor& tensor : model_.state()->tensors) all.push_back(tensor.node);
  show({{all, PlanAction::recompute}});
  bool shares = false;
  for (const int group : model_.shown(-1)) {
    std::vector<int> tensors;
    std::int64_t ns = 0;
    for (const int leaf : model_.shown(group)) {
      const NodeId node = model_.nodes(leaf).front();
      tensors.push_back(model_.state()->tensor_by_node[node.index()]);
      ns += *model_.number(leaf, SacModel::time_column);
    }
    const PlanTotals::Sum sum = sum_of(*model_.state(), tensors);
    EXPECT_EQ(model_.number(group, SacModel::bytes_column), sum.bytes);
    EXPECT_EQ(model_.number(group, SacModel::time_column), sum.recompute_ns);
    EXPECT_LE(sum.recompute_ns, ns);
    shares = shares || sum.recompute_ns < ns;
  }
  EXPECT_TRUE(shares);
}

TEST_F(SacModelTest, TicksKeepTheRows) {
  model_.set_grouping(SacGrouping::tensor);
  int resets = 0;
  QObject::connect(&model_, &QAbstractItemModel::modelReset, [&resets] { ++resets; });
  const PlanAction was = model_.state()->tensor_of(node("act0"))->action;
  show({{{node("act0")}, was == PlanAction::save ? PlanAction::recompute : PlanAction::save}});
  EXPECT_NE(model_.actions(row("act0")).one(), was);
  EXPECT_EQ(model_.text(row("act0"), SacModel::decider_column), "user");
}

TEST_F(SacModelTest, AGroupWithSeveralPoliciesIsMixed) {
  model_.set_grouping(SacGrouping::op);
  show({{{node("act0")}, PlanAction::save}, {{node("act1")}, PlanAction::recompute}});
  const int group = model_.parent_row(row("act0"));
  EXPECT_FALSE(model_.actions(group).one());
  EXPECT_TRUE(model_.text(group, SacModel::policy_column).startsWith("mixed"));
}

TEST_F(SacModelTest, TheFilterUsesTheSearchSyntax) {
  model_.set_grouping(SacGrouping::tensor);
  model_.set_filter("op:sigmoid mod:layers.1");
  EXPECT_THAT(names(), ElementsAre("act1"));
  model_.set_filter("bytes>1TiB");
  EXPECT_THAT(names(), IsEmpty());
  // An incomplete query hides nothing and reports an error.
  model_.set_filter("bytes>");
  EXPECT_EQ(names().size(), model_.state()->tensors.size());
  EXPECT_FALSE(model_.filter_error().isEmpty());
}

TEST_F(SacModelTest, TheFilterKnowsThePlan) {
  model_.set_grouping(SacGrouping::tensor);
  show({{{node("act0")}, PlanAction::save}, {{node("act1")}, PlanAction::recompute}});
  model_.set_filter("policy:save by:user");
  EXPECT_THAT(names(), ElementsAre("act0"));
  model_.set_filter("by:user");
  EXPECT_THAT(names(), ElementsAre("act0", "act1"));
  model_.set_filter("policy:recompute -by:user op:sigmoid");
  const std::size_t others = names().size();
  for (const std::string& name : names()) EXPECT_NE(name, "act1");
  // A different plan gives different matches.
  model_.set_filter("policy:save by:user");
  show({{{node("act0")}, PlanAction::recompute}, {{node("act1")}, PlanAction::save}});
  EXPECT_THAT(names(), ElementsAre("act1"));
  EXPECT_LE(others, 3U);
  // Bytes are those of the column.
  model_.set_filter("bytes>0");
  for (const SacTensor& tensor : model_.state()->tensors)
    EXPECT_EQ(model_.index_of(model_.row_of(tensor.node)).isValid(), tensor.bytes > 0);
}

TEST_F(SacModelTest, OnlyVisibleTensorsAreChanged) {
  model_.set_grouping(SacGrouping::op);
  const int group = model_.parent_row(row("act0"));
  EXPECT_EQ(model_.changeable(std::vector{group}, PlanAction::save).size(), 5U);
  model_.set_filter("mod:layers.1");
  EXPECT_THAT(model_.changeable(std::vector{group}, PlanAction::save), ElementsAre(node("act1")));
  model_.set_filter({});
  model_.show_only(std::vector{node("act0")});
  EXPECT_THAT(model_.changeable(std::vector{group}, PlanAction::save), ElementsAre(node("act0")));
  model_.show_only(std::nullopt);
  EXPECT_EQ(model_.changeable(std::vector{group, row("act0")}, PlanAction::save).size(), 5U);
}

constexpr const char* kGatheredWeight = R"(
  group fsdp: 0 1
  w: f32[32,64] = parameter
  x: f32[64,64] = input
  g: f32[64,64] = _c10d_functional.all_gather_into_tensor(w, 2, 'fsdp')  {layers.0}
  v: f32[64,64] = _c10d_functional.wait_tensor(g)                        {layers.0}
  m: f32[64,64] = aten.mm(x, v)                                          {layers.0}
  s: f32[64,64] = aten.sigmoid(m)                                        {layers.0}
  o: f32[64,64] = aten.mul.Tensor(s, 2)                                  {layers.0}
  dy: f32[64,64] = tangent
  ds: f32[64,64] = aten.mul.Tensor(dy, s)                                {layers.0 backward}
  vt: f32[64,64] = aten.t(v)                                             {layers.0 backward}
  dx: f32[64,64] = aten.mm(ds, vt)                                       {layers.0 backward}
  return [o, dx]
)";

// A group stands for its activations; its gathered weights change only by themselves.
TEST_F(SacModelTest, SaysThatAGroupLeavesOutGatheredWeights) {
  snapshot_ = test::snapshot_of(kGatheredWeight);
  model_.set_grouping(SacGrouping::module);
  show({{{node("m"), node("s")}, PlanAction::recompute}, {{node("v")}, PlanAction::save}});
  const int group = model_.parent_row(row("v"));
  ASSERT_GE(group, 0);
  ASSERT_EQ(model_.parent_row(row("s")), group);
  EXPECT_THAT(model_.changeable(std::vector{group}, PlanAction::recompute), IsEmpty());
  EXPECT_EQ(model_.why_unchanged(std::vector{group}, PlanAction::recompute),
            "The plan saves or offloads none of the selected activations, so there is nothing to "
            "recompute. To change gathered parameters, select their own rows.");
  EXPECT_THAT(model_.changeable(std::vector{row("v")}, PlanAction::recompute),
              ElementsAre(node("v")));
  EXPECT_EQ(model_.why_unchanged(std::vector{row("s")}, PlanAction::recompute),
            "The plan saves or offloads none of the selected tensors, so there is nothing to "
            "recompute.");
}

TEST_F(SacModelTest, SortsByBytesPerMicrosecond) {
  model_.set_grouping(SacGrouping::tensor);
  for (const SacTensor& tensor : model_.state()->tensors) {
    const auto worth = model_.number(model_.row_of(tensor.node), SacModel::worth_column);
    ASSERT_EQ(worth.has_value(), tensor.recompute_ns > 0);
    if (worth) {
      EXPECT_NEAR(static_cast<double>(*worth) * static_cast<double>(tensor.recompute_ns),
                  static_cast<double>(tensor.bytes) * 1e3,
                  static_cast<double>(tensor.recompute_ns));
    }
  }
}

}  // namespace
}  // namespace jointer::views
