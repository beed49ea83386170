// Totals of a part of the step: on small schedules worked out by hand, and on real captures
// compared with sums over the graph.

#include "core/schedule/range_figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/open/open.h"
#include "core/schedule/memory_times.h"
#include "tests/support/graphs.h"
#include "tests/support/paths.h"

namespace jointer::test {
namespace {

constexpr std::string_view kExposed = R"(
  group tp: 0 1
  x: f32[1024] = input
  a: f32[1024] = aten.relu(x)
  ar: f32[1024] = _c10d_functional.all_reduce(a, 'sum', 'tp')
  b: f32[1024] = aten.relu(x)
  w: f32[1024] = _c10d_functional.wait_tensor(ar)
  c: f32[1024] = aten.add.Tensor(w, b)
  return [c]
)";

struct Step {
  explicit Step(Graph made) : graph(std::move(made)), analysis(*analyze(graph)) {}
  explicit Step(std::string_view literal) : Step(parse(literal)) {}

  [[nodiscard]] const NodeTiming& timing(const char* name) const {
    return analysis.simulation.timing(graph.find(name));
  }
  [[nodiscard]] RangeFigures figures(TimeRange range) const { return {graph, analysis, range}; }

  Graph graph;
  Analysis analysis;
};

TEST(RangeFigures, ClipsTheTimeOfANode) {
  const Step step(kExposed);
  const NodeTiming& a = step.timing("a");
  ASSERT_GT(a.end - a.start, 10);
  const RangeFigures figures = step.figures({a.start + 3, a.end - 2});
  EXPECT_EQ(figures.ns(step.graph.find("a")), a.end - a.start - 5);
  EXPECT_EQ(figures.totals().compute_ns, a.end - a.start - 5);
  EXPECT_FALSE(figures.contains(step.graph.find("c")));
  EXPECT_FALSE(figures.contains(step.graph.find("x"))) << "it is at the start of the step";
  EXPECT_EQ(figures.totals().nodes, 1U);
}

TEST(RangeFigures, ClipsExposedTime) {
  const Step step(kExposed);
  const NodeTiming& wait = step.timing("w");
  ASSERT_GT(wait.end - wait.start, 10) << "the collective is exposed";
  const NodeId ar = step.graph.find("ar");
  const RangeFigures half = step.figures({wait.start, wait.start + 7});
  EXPECT_EQ(half.exposed_ns(ar), 7);
  EXPECT_EQ(half.totals().exposed_ns, 7);
  EXPECT_TRUE(half.contains(ar)) << "the compute stream waits for it there";
  const RangeFigures before = step.figures({0, wait.start});
  EXPECT_EQ(before.totals().exposed_ns, 0);
}

// An estimator may give a wait a cost, which the simulation does not use.
TEST(RangeFigures, AWaitHasNoDeviceTime) {
  Step step(kExposed);
  const NodeId wait = step.graph.find("w");
  step.analysis.costs[wait.index()].ns = 5;
  const RangeFigures figures = step.figures(whole_step(step.analysis.simulation));
  EXPECT_EQ(figures.ns(wait), 0);
  EXPECT_TRUE(figures.contains(wait));
}

TEST(RangeFigures, ReportsAllocatedAndFreedStorages) {
  const Step step(kExposed);
  const auto lifetimes = step.analysis.memory.lifetimes();
  const auto change = [&](const char* name, TimeRange range) {
    const auto index = step.analysis.memory.lifetime_of(storage_of(step.graph, name));
    return step.figures(range).change_of(lifetimes[*index]);
  };
  const std::int64_t all = step.analysis.simulation.step_ns();
  const NodeTiming &a = step.timing("a"), &b = step.timing("b"), &c = step.timing("c");
  EXPECT_EQ(change("x", {0, all}), RangeChange::unchanged);
  EXPECT_EQ(change("a", {a.start, a.end}), RangeChange::allocated);
  EXPECT_EQ(change("b", {0, all}), RangeChange::passing) << "c is the last to read it";
  EXPECT_EQ(change("b", {c.start, all}), RangeChange::freed);
  EXPECT_EQ(change("b", {b.end + 1, c.start}), RangeChange::unchanged);
  EXPECT_EQ(change("c", {0, a.end}), RangeChange::outside);
}

TEST(RangeFigures, CountsRecomputedNodes) {
  const Step step(R"(
    x: f32[1024] = input
    a: f32[1024] = aten.relu(x)
    again: f32[1024] = aten.relu(x)             {backward recomputed}
    g: f32[1024] = aten.mul.Tensor(again, x)    {backward}
    return [a, g]
  )");
  const std::int64_t all = step.analysis.simulation.step_ns();
  EXPECT_EQ(step.figures({0, all}).totals().recomputed, 1U);
  const NodeTiming& again = step.timing("again");
  const RangeFigures figures = step.figures({again.start, again.end});
  EXPECT_EQ(figures.totals().recomputed, 1U);
  EXPECT_EQ(figures.totals().nodes, 1U);
  EXPECT_EQ(step.figures({again.end, all}).totals().recomputed, 0U);
}

TEST(RangeFigures, ClampsARangeToTheStep) {
  const Step step(kExposed);
  const std::int64_t all = step.analysis.simulation.step_ns();
  EXPECT_EQ(step.figures({-5, all + 5}).range(), (TimeRange{0, all}));
  EXPECT_EQ(step.figures({all + 5, all + 9}).range().length(), 0);
}

// --- Real graphs ---

class RangesOfCaptures : public testing::TestWithParam<std::string> {
 protected:
  RangesOfCaptures() : step(*open_graph({.path = GetParam()})) {}
  [[nodiscard]] const Simulation& simulation() const { return step.analysis.simulation; }

  Step step;
};

TEST_P(RangesOfCaptures, TheWholeStepHasTheFiguresOfTheGraph) {
  const RangeFigures figures = step.figures(whole_step(simulation()));
  const RangeTotals& t = figures.totals();
  const MemoryTimeline& memory = step.analysis.memory;
  EXPECT_EQ(t.nodes, step.graph.order().size());
  EXPECT_EQ(t.compute_ns, simulation().compute_ns());
  EXPECT_EQ(t.communication_ns, simulation().communication_ns() + simulation().transfer_ns());
  EXPECT_EQ(t.exposed_ns, simulation().exposed_ns());
  EXPECT_EQ(t.flops, step.analysis.total_flops.total);
  EXPECT_EQ(t.peak_bytes, memory.peak_bytes());
  EXPECT_EQ(t.begin_bytes, memory.profile().front());
  EXPECT_EQ(t.end_bytes, memory.profile().back());
  for (const NodeId id : step.graph.order())
    ASSERT_EQ(figures.ns(id), step.analysis.costs[id.index()].ns) << step.graph.name(id);
  for (const CollectiveTiming& c : simulation().collectives())
    ASSERT_EQ(figures.exposed_ns(c.start), c.exposed_ns) << step.graph.name(c.start);
}

TEST_P(RangesOfCaptures, PartsAddUpToTheWhole) {
  const std::int64_t all = simulation().step_ns();
  RangeTotals sum;
  std::int64_t bytes = step.analysis.memory.profile().front();
  for (int part = 0; part < 7; ++part) {
    const RangeTotals t = step.figures({all * part / 7, all * (part + 1) / 7}).totals();
    sum.compute_ns += t.compute_ns;
    sum.communication_ns += t.communication_ns;
    sum.exposed_ns += t.exposed_ns;
    EXPECT_EQ(t.begin_bytes, bytes) << "a part begins where the previous one ended";
    EXPECT_EQ(t.end_bytes, bytes + t.allocated_bytes - t.freed_bytes);
    bytes = t.end_bytes;
    sum.peak_bytes = std::max(sum.peak_bytes, t.peak_bytes);
  }
  EXPECT_EQ(sum.compute_ns, simulation().compute_ns());
  EXPECT_EQ(sum.communication_ns, simulation().communication_ns() + simulation().transfer_ns());
  EXPECT_EQ(sum.exposed_ns, simulation().exposed_ns());
  EXPECT_EQ(sum.peak_bytes, step.analysis.memory.peak_bytes());
}

TEST_P(RangesOfCaptures, AreSumsOverTheGraph) {
  const std::int64_t all = simulation().step_ns();
  const TimeRange range{all / 5, all * 3 / 5};
  const RangeFigures figures = step.figures(range);
  const auto clipped = [&](std::int64_t begin, std::int64_t end) {
    return std::max<std::int64_t>(std::min(end, range.end) - std::max(begin, range.begin), 0);
  };
  std::int64_t compute = 0, communication = 0, stalls = 0;
  for (const NodeId id : step.graph.order()) {
    const Node& n = step.graph.node(id);
    if (n.kind != NodeKind::call) continue;
    const NodeTiming& timing = simulation().timing(id);
    const std::int64_t part = clipped(timing.start, timing.end);
    if (timing.stream > 0)
      communication += part;
    else if (step.graph.is_wait(n))
      stalls += part;
    else if (timing.stream == 0)
      compute += part;
  }
  EXPECT_EQ(figures.totals().compute_ns, compute);
  EXPECT_EQ(figures.totals().communication_ns, communication);
  // The tail is at the end of the step, outside this range.
  EXPECT_EQ(figures.totals().exposed_ns, stalls);

  const auto times = memory_times(step.graph, step.analysis.memory, simulation());
  const auto in_range = [&](std::size_t point) {
    return times[point] >= range.begin && times[point] < range.end;
  };
  std::int64_t allocated = 0, freed = 0;
  const std::size_t steps = step.analysis.memory.steps().size();
  for (const Lifetime& l : step.analysis.memory.lifetimes()) {
    if (l.last < 0) continue;  // never live
    if (l.first >= 0 && in_range(1 + 2 * static_cast<std::size_t>(l.first))) allocated += l.bytes;
    if (static_cast<std::size_t>(l.last) < steps &&
        in_range(2 + 2 * static_cast<std::size_t>(l.last)))
      freed += l.bytes;
  }
  EXPECT_EQ(figures.totals().allocated_bytes, allocated);
  EXPECT_EQ(figures.totals().freed_bytes, freed);
}

INSTANTIATE_TEST_SUITE_P(Samples, RangesOfCaptures, testing::ValuesIn(sample_captures()),
                         parameter_name<testing::TestParamInfo<std::string>>);

}  // namespace
}  // namespace jointer::test
