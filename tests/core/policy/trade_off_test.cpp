// The numbers of points on a trade-off, the baseline of a slowdown, and the start of a search.

#include "core/policy/trade_off.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>

#include "core/open/open.h"
#include "core/policy/with_fsdp.h"
#include "tests/support/paths.h"
#include "tests/support/slow.h"

namespace jointer::test {
namespace {

using testing::Contains;
using testing::Not;
using testing::UnorderedElementsAreArray;

// The sample with its current plan.
struct Asked {
  explicit Asked(Partitioner by) : partitioner(by) {
    graph =
        open_graph({.path = source_path("resources/samples/llama_debug_tp2_fsdp2.joint.json.zst")})
            .value();
    fsdp = fsdp_policy(graph);
    costs = estimate_all(graph, **make_estimator({.name = "simple"}));
    flops.resize(graph.node_count());
    for (const NodeId id : graph.order()) flops[id.index()] = node_flops(graph, graph.node(id));
    solved = partition(graph, {.partitioner = by}).value();
    figures = judged(solved.joint, solved.plan, by);
  }
  [[nodiscard]] PlanFigures judged(const Graph& joint, const SavePlan& plan, Partitioner by) const {
    return PlanWhatIf(joint, costs, flops, {}, {}, {.transfers = {}, .partitioner = by})
        .figures(plan)
        .value();
  }
  [[nodiscard]] std::unique_ptr<TradeOff> make(bool has_policy = false) {
    TradeOffOptions options{.partition = {},
                            .now = {.budget = -1,
                                    .name = "now",
                                    .plan = solved.plan,
                                    .figures = figures,
                                    .partitioner = partitioner},
                            .fsdp = fsdp,
                            .has_policy = has_policy,
                            .max_budgets = 8,
                            .found = [this](const ParetoPoint& point) {
                              found.push_back(point.name);
                              points_found.push_back(point);
                              return true;
                            }};
    options.partition.watcher.is_cancelled = is_cancelled;
    return TradeOff::make(graph, {costs, flops, {}, {}, {}}, std::move(options)).value();
  }

  Partitioner partitioner;
  Graph graph;
  MemoryPolicy fsdp = MemoryPolicy::none;
  std::vector<NodeCost> costs;
  std::vector<Flops> flops;
  Partition solved;
  PlanFigures figures;
  std::vector<std::string> found;         // names of points, in the order of their discovery
  std::vector<ParetoPoint> points_found;  // the same points
  std::function<bool()> is_cancelled;
};

class TradeOffOf : public testing::TestWithParam<Partitioner> {};
INSTANTIATE_TEST_SUITE_P(Partitioners, TradeOffOf,
                         testing::Values(Partitioner::min_cut, Partitioner::default_partition));

// The numbers of a point are those of its plan under the partitioner that would make its pair.
TEST_P(TradeOffOf, PointsHaveTheFiguresOfTheirPair) {
  JOINTER_SLOW_TEST();
  Asked asked(GetParam());
  const auto trade_off = asked.make();
  const auto points = trade_off->curve()->points;
  EXPECT_GT(points.size(), 2U);
  for (const ParetoPoint& point : points) {
    if (point.name == "now") {
      EXPECT_EQ(point.figures, asked.figures);
      continue;
    }
    EXPECT_EQ(point.figures,
              asked.judged(trade_off->partition().joint, point.plan, Partitioner::min_cut));
    if (point.budget < 0) continue;
    const Partition taken = partition(asked.graph, {.activation_budget = point.budget}).value();
    EXPECT_EQ(point.figures, asked.judged(taken.joint, taken.plan, Partitioner::min_cut));
  }
}

// A search that expects an order to hide communication tells its points with the estimates that
// they have on the curve, so that they stay in place.
TEST(TradeOff, PointsAreFoundWithTheirFinalFigures) {
  JOINTER_SLOW_TEST();
  Asked asked(Partitioner::min_cut);
  const auto trade_off = asked.make();
  ASSERT_TRUE(trade_off->curve(HiddenShares(1.0)));
  EXPECT_GT(asked.points_found.size(), upstream_presets().size() + 2);
  for (const ParetoPoint& point : asked.points_found)
    EXPECT_EQ(point.figures, trade_off->what_if().figures(point.plan).value()) << point.budget;
}

TEST_P(TradeOffOf, ASlowdownIsRelativeToTheCurrentPlan) {
  Asked asked(GetParam());
  const auto trade_off = asked.make();
  EXPECT_EQ(trade_off->longest_step(0), asked.figures.figures.step_ns);
  const Fit fit = trade_off->smallest_within(10).value();
  EXPECT_TRUE(fit.fits);
  EXPECT_LE(static_cast<double>(fit.point.figures.figures.step_ns),
            1.1 * static_cast<double>(asked.figures.figures.step_ns));
  EXPECT_LE(fit.point.figures.figures.peak_bytes, asked.figures.figures.peak_bytes);
}

TEST_P(TradeOffOf, TheCurrentPlanIsOnTheCurveIfNothingIsBetter) {
  JOINTER_SLOW_TEST();
  Asked asked(GetParam());
  const auto points = asked.make()->curve()->points;
  const bool is_beaten = std::any_of(points.begin(), points.end(), [&](const ParetoPoint& p) {
    return p.name != "now" && p.figures.figures.peak_bytes <= asked.figures.figures.peak_bytes &&
           p.figures.figures.step_ns <= asked.figures.figures.step_ns;
  });
  const bool is_there = std::any_of(points.begin(), points.end(),
                                    [](const ParetoPoint& p) { return p.name == "now"; });
  EXPECT_NE(is_beaten, is_there);
}

TEST(TradeOff, SearchesForALimitKeepAFixedPolicy) {
  JOINTER_SLOW_TEST();
  for (const bool has_policy : {false, true}) {
    Asked asked(Partitioner::min_cut);
    const auto trade_off = asked.make(has_policy);
    ASSERT_TRUE(trade_off->fastest_within(asked.figures.figures.peak_bytes));
    for (const std::string& preset : upstream_presets()) {
      if (has_policy)
        EXPECT_THAT(asked.found, Not(Contains(preset)));
      else
        EXPECT_THAT(asked.found, Contains(preset));
    }
  }
}

TEST(TradeOff, EveryPresetThatFitsHasItsFigures) {
  Asked asked(Partitioner::min_cut);
  const auto trade_off = asked.make();
  std::vector<std::string> names;
  for (const ParetoPoint& point : trade_off->presets()) {
    names.push_back(point.name);
    Graph tagged = asked.graph;
    ASSERT_TRUE(apply(tagged, preset_with_fsdp(tagged, point.name, asked.fsdp).value()));
    const Partition taken = partition(tagged).value();
    EXPECT_EQ(point.figures, asked.judged(taken.joint, taken.plan, Partitioner::min_cut));
  }
  EXPECT_THAT(names, UnorderedElementsAreArray(upstream_presets()));
}

TEST(TradeOff, TheBoundOfAnyOrderCanBeCancelled) {
  std::atomic<bool> stop = false;
  std::atomic<int> polls = 0;  // since the cancellation
  Asked asked(Partitioner::min_cut);
  asked.is_cancelled = [&] { return stop && ++polls > 0; };
  const auto trade_off = asked.make();
  const std::int64_t peak = asked.figures.figures.peak_bytes;
  EXPECT_GT(trade_off->order_bound()->bound_ns(peak), 0);
  stop = true;
  EXPECT_EQ(trade_off->order_bound()->bound_ns(peak), 0);
  EXPECT_EQ(polls, 1) << "it continues after the cancellation";
}

// Saves as much as the bytes allow, which makes the step shorter.
TEST(TradeOff, APlanMayBeGivenMoreMemory) {
  Asked asked(Partitioner::min_cut);
  const auto trade_off = asked.make();
  const ParetoPoint low = trade_off->fastest_within(0).value().point;
  const Figures from = figures_of(low);
  std::int64_t last_ns = from.step_ns;
  for (const std::int64_t bytes : {1 << 20, 4 << 20}) {
    const ParetoPoint more = trade_off->with_more_saved(low.plan, bytes, {}).value();
    EXPECT_EQ(more.figures, trade_off->what_if().figures(more.plan).value());
    EXPECT_LE(more.figures.figures.peak_bytes, from.peak_bytes + bytes);
    EXPECT_LT(more.figures.figures.step_ns, last_ns);
    last_ns = more.figures.figures.step_ns;
  }
  std::atomic<bool> is_cancelled = false;
  asked.is_cancelled = [&] { return is_cancelled.load(); };
  const auto cancelled = asked.make();
  is_cancelled = true;
  EXPECT_EQ(cancelled->with_more_saved(low.plan, 4 << 20, {})->plan, low.plan);
}

}  // namespace
}  // namespace jointer::test
