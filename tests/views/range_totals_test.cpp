// The totals of a range add up: for each sample, in each view that the timeline has of it, compares
// the panes with each other and with sums made here from the timings of nodes.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/open/open.h"
#include "tests/support/paths.h"
#include "views/inspector/describe_nodes.h"
#include "views/modules/module_model.h"
#include "views/operators/operator_model.h"
#include "views/session/document/partitioned.h"
#include "views/session/sac/sac_solver.h"
#include "views/session/snapshot/range_figures.h"
#include "views/session/text/number_text.h"

namespace jointer::views {
namespace {

std::int64_t sum_in(const TableModel& model, int column) {
  return model.totals().by_column[static_cast<std::size_t>(column)].value_or(0);
}

// Sums over the nodes that run in a range, from their timings alone.
class RangeSums {
 public:
  RangeSums(const Snapshot& shown, TimeRange range)
      : simulation_(shown.analysis.simulation), range_(range) {
    std::vector<char> is_inside(shown.graph.node_count(), 0);
    for (const CollectiveTiming& c : simulation_.collectives()) {
      const std::int64_t part = exposed_part(c);
      exposed_ns += part;
      if (part > 0) is_inside[c.start.index()] = 1;
    }
    for (const NodeId id : shown.graph.order()) {
      const Node& node = shown.graph.node(id);
      const bool is_call = node.kind == NodeKind::call;
      const NodeTiming& run = simulation_.timing(id);
      const std::int64_t moment = node.kind == NodeKind::output ? simulation_.step_ns() : 0;
      const bool runs = is_call ? is_in(run.start, run.end) : is_in(moment, moment);
      if (!runs && is_inside[id.index()] == 0) continue;
      ++nodes;
      if (is_call) ++calls;
      if (node.has(Node::recomputed)) ++recomputed;
      flops += shown.analysis.flops[id.index()].total;
      if (!is_call || shown.graph.is_wait(node)) continue;
      (run.stream > 0 ? communication_ns : compute_ns) += part_of(run.start, run.end);
    }
  }

  std::int64_t nodes = 0, calls = 0, recomputed = 0, flops = 0;
  std::int64_t compute_ns = 0, communication_ns = 0, exposed_ns = 0;

 private:
  [[nodiscard]] std::int64_t part_of(std::int64_t begin, std::int64_t end) const {
    return std::max<std::int64_t>(std::min(end, range_.end) - std::max(begin, range_.begin), 0);
  }
  [[nodiscard]] bool is_in(std::int64_t begin, std::int64_t end) const {
    if (begin < end) return part_of(begin, end) > 0;
    const bool is_last = begin == simulation_.step_ns() && range_.end == begin;
    return begin >= range_.begin && (begin < range_.end || is_last);
  }
  // The stall of the wait, and the end of a collective that ends after the last kernel.
  [[nodiscard]] std::int64_t exposed_part(const CollectiveTiming& c) const {
    std::int64_t stall = 0, part = 0;
    if (c.wait) {
      const NodeTiming& wait = simulation_.timing(c.wait);
      stall = wait.end - wait.start;
      part = part_of(wait.start, wait.end);
    }
    return part + part_of(c.end_ns - (c.exposed_ns - stall), c.end_ns);
  }

  const Simulation& simulation_;
  TimeRange range_;
};

class TotalsOfRanges : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto graph = open_graph({.path = GetParam()});
    ASSERT_TRUE(graph) << graph.error().message;
    auto made = make_snapshot(*std::move(graph), {});
    ASSERT_TRUE(made) << made.error().message;
    own_ = *std::move(made);
    if (sac_kind(own_->graph) != SacKind::joint) return;
    SacSolver solver;
    const auto state = solver.state({own_, own_, {}, {}});
    ASSERT_TRUE(state) << state.error().message;
    auto pair = pair_of(**state);
    ASSERT_TRUE(pair) << pair.error().message;
    pair_ = *std::move(pair);
  }

  static void compare(const SnapshotPtr& shown, TimeRange range) {
    const RangeSums sums(*shown, range);
    const RangeFiguresPtr figures = range_figures(*shown, range);
    const std::int64_t ns = sums.compute_ns + sums.communication_ns;
    OperatorModel operators;
    operators.set_snapshot(shown, figures);
    EXPECT_EQ(sum_in(operators, OperatorModel::count_column), sums.calls);
    EXPECT_EQ(sum_in(operators, OperatorModel::time_column), ns);
    EXPECT_EQ(sum_in(operators, OperatorModel::exposed_column), sums.exposed_ns);
    EXPECT_EQ(sum_in(operators, OperatorModel::flops_column), sums.flops);
    ModuleModel modules;
    modules.set_snapshot(shown, figures);
    EXPECT_EQ(sum_in(modules, ModuleModel::nodes_column), sums.nodes);
    EXPECT_EQ(sum_in(modules, ModuleModel::forward_column) +
                  sum_in(modules, ModuleModel::backward_column),
              ns);
    EXPECT_EQ(sum_in(modules, ModuleModel::flops_column), sums.flops);
    std::map<QString, QString> inspector;
    for (const InspectorRow& row : describe_range(*figures).rows) inspector[row.label] = row.value;
    EXPECT_EQ(inspector["nodes"], count_text(sums.nodes));
    EXPECT_EQ(inspector["compute"], time_text(sums.compute_ns));
    EXPECT_EQ(inspector["communication"], time_text(sums.communication_ns));
    EXPECT_EQ(inspector["exposed"], time_text(sums.exposed_ns));
    EXPECT_EQ(inspector["FLOPs"], sums.flops == 0 ? QStringLiteral("0") : flops_text(sums.flops));
    EXPECT_EQ(inspector.contains("recomputed"), sums.recomputed > 0);
    if (sums.recomputed > 0) {
      EXPECT_EQ(inspector["recomputed"], nodes_text(static_cast<std::size_t>(sums.recomputed)));
    }
  }
  static void compare_all(const SnapshotPtr& shown) {
    const std::int64_t all = shown->analysis.simulation.step_ns();
    for (const TimeRange range : {TimeRange{0, all}, TimeRange{0, all / 4},
                                  TimeRange{all / 3, all * 2 / 3}, TimeRange{all * 3 / 4, all}}) {
      SCOPED_TRACE(testing::Message() << range.begin << " to " << range.end << " of " << all);
      compare(shown, range);
    }
  }
  // The calls of an operator in the whole step.
  static std::int64_t count_of(const SnapshotPtr& shown, const QString& name) {
    OperatorModel operators;
    operators.set_snapshot(shown, whole_step_figures(*shown));
    for (int row = 0; row < operators.row_count(); ++row)
      if (operators.text(row, OperatorModel::name_column) == name)
        return *operators.number(row, OperatorModel::count_column);
    return 0;
  }

  SnapshotPtr own_, pair_;  // the pair is null unless the sample is a joint graph
};

TEST_P(TotalsOfRanges, AddUp) {
  compare_all(own_);
}

TEST_P(TotalsOfRanges, AddUpAsPartitioned) {
  if (!pair_) GTEST_SKIP() << "not a joint graph";
  compare_all(pair_);
}

// In these samples, every SiLU is recomputed.
TEST_P(TotalsOfRanges, CountRecomputedCallsTwice) {
  if (!pair_) GTEST_SKIP() << "not a joint graph";
  const std::int64_t once = count_of(own_, "aten.silu.default");
  EXPECT_GT(once, 0);
  EXPECT_EQ(count_of(pair_, "aten.silu.default"), 2 * once);
}

INSTANTIATE_TEST_SUITE_P(Samples, TotalsOfRanges, testing::ValuesIn(test::sample_captures()),
                         [](const auto& each) { return test::parameter_name(each); });

}  // namespace
}  // namespace jointer::views
