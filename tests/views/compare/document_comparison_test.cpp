// Tests comparisons of states of different documents.

#include "views/compare/document_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "core/partition/partition.h"
#include "core/policy/decider.h"
#include "tests/support/joints.h"
#include "tests/support/snapshots.h"
#include "views/session/edit/metrics.h"
#include "views/session/sac/sac_solver.h"

namespace jointer::views {
namespace {

using testing::HasSubstr;

StateOfDocument opened(const SnapshotPtr& snapshot, const char* name) {
  return {.name = name, .snapshot = snapshot, .baseline = snapshot};
}

Result<Comparison> compare(const SnapshotPtr& from, const SnapshotPtr& to) {
  return compare_documents(opened(from, "A"), opened(to, "B"), from->analysis.options);
}

// With a tag on the activation of the first layer.
SnapshotPtr tagged(MemoryPolicy policy) {
  const SnapshotPtr plain = test::snapshot_of(test::layered_joint(3));
  Graph graph = plain->graph;
  graph.node(graph.find("act0")).policy = policy;
  return *make_snapshot(std::move(graph), {});
}

SnapshotPtr pair_of(const SnapshotPtr& joint) {
  const auto found = partition(joint->graph, {});
  return *make_snapshot(*emit_pair(found->joint, found->plan, Partitioner::min_cut), {});
}

std::int64_t saved_bytes(const SnapshotPtr& pair) {
  return state_as_captured(pair)->figures.saved_bytes;
}

TEST(DocumentComparison, ComparesPlansOfTwoCaptures) {
  const auto made = compare(tagged(MemoryPolicy::must_recompute), tagged(MemoryPolicy::must_save));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->nodes->difference().retagged.size(), 1U);
  ASSERT_NE(made->plan, nullptr);
  EXPECT_TRUE(std::ranges::any_of(made->plan->difference.rows, [](const PlanChangeRow& row) {
    return row.name == "act0" && row.to == PlanAction::save;
  }));
  EXPECT_EQ(made->plan->difference.total().saved_bytes,
            made->plan->to.saved_bytes - made->plan->from.saved_bytes);
  EXPECT_TRUE(metric_rows(*made).front().whole_name().startsWith("As partitioned"));
}

// As the SAC pane and the edit history show it.
TEST(DocumentComparison, AFlatTrainingStepRunsWithItsTagsApplied) {
  Graph graph = test::snapshot_of("kind train_step\n" + test::layered_joint(3))->graph;
  graph.node(graph.find("act0")).policy = MemoryPolicy::must_recompute;
  const SnapshotPtr step = *make_snapshot(std::move(graph), {});
  const auto run = as_run(opened(step, "A"), step->analysis.options);
  ASSERT_TRUE(run) << run.error().message;
  const auto state = SacSolver().state({.now = step, .baseline = step});
  ASSERT_TRUE(state) << state.error().message;
  ASSERT_TRUE((*state)->applied_tags.any);
  const Metrics metrics = metrics_of(run->snapshot->graph, run->snapshot->analysis);
  EXPECT_EQ(figures_of(metrics), (*state)->figures.figures);
  EXPECT_EQ(metrics.reserved_bytes, (*state)->applied_tags.reserved_bytes);
  EXPECT_GT(metrics.nodes, metrics_of(step->graph, step->analysis).nodes);
}

TEST(DocumentComparison, AStateIsNotExecutedOnceItIsCancelled) {
  const SnapshotPtr joint = tagged(MemoryPolicy::none);
  const Cancellation job{};
  const auto made = executed_as(opened(joint, "A"), Execution::inductor, job);
  ASSERT_TRUE(made) << made.error().message;
  job.cancel();
  const auto cancelled = executed_as(opened(joint, "A"), Execution::inductor, job);
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().kind, Error::Kind::cancelled);
  const auto compared = compare_documents(opened(joint, "A"), opened(pair_of(joint), "B"),
                                          joint->analysis.options, Execution::inductor, job);
  ASSERT_FALSE(compared);
  EXPECT_EQ(compared.error().kind, Error::Kind::cancelled);
}

// The joint graph is shown as the pair that its plan produces, which is the same.
TEST(DocumentComparison, AJointGraphEqualsThePairMadeFromIt) {
  const SnapshotPtr joint = tagged(MemoryPolicy::none), pair = pair_of(joint);
  for (const bool is_from : {false, true}) {
    const auto made = is_from ? compare(joint, pair) : compare(pair, joint);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ((is_from ? made->from : made->to).name,
              QString(is_from ? "A" : "B") + ", as partitioned");
    EXPECT_TRUE(made->from.snapshot->graph.is_pair() && made->to.snapshot->graph.is_pair());
    EXPECT_TRUE(made->nodes->difference().empty()) << made->nodes->summary().toStdString();
    EXPECT_EQ(made->plan, nullptr);
    EXPECT_EQ(made->from.snapshot->analysis.memory.peak_bytes(),
              made->to.snapshot->analysis.memory.peak_bytes());
  }
}

TEST(DocumentComparison, APairIsInTheOrderFoundForItsPlan) {
  const SnapshotPtr joint = test::snapshot_of(test::kEarlyWait);
  Graph graph = joint->graph;
  Edit edit;
  edit.by = searched_with("sink_waits");
  edit.changes.emplace_back(SetPolicy{.policy = MemoryPolicy::must_save, .nodes = {"mm"}});
  Result<Edit> inverse = apply(graph, edit);
  ASSERT_TRUE(inverse) << inverse.error().message;
  StateOfDocument found = opened(*make_snapshot(std::move(graph), joint->analysis.options), "B");
  found.baseline = joint;
  found.history = {std::make_shared<DoneEdit>(DoneEdit{edit, *std::move(inverse)})};
  const auto own = as_run(opened(joint, "A"), joint->analysis.options),
             ordered = as_run(found, joint->analysis.options);
  ASSERT_TRUE(own) << own.error().message;
  ASSERT_TRUE(ordered) << ordered.error().message;
  EXPECT_TRUE(ordered->snapshot->graph.is_pair());
  EXPECT_LT(ordered->snapshot->analysis.simulation.step_ns(),
            own->snapshot->analysis.simulation.step_ns());
}

TEST(DocumentComparison, PlansOfPairsAreCompared) {
  const SnapshotPtr a = pair_of(tagged(MemoryPolicy::must_recompute)),
                    b = pair_of(tagged(MemoryPolicy::must_save));
  const auto made = compare(tagged(MemoryPolicy::must_recompute), b);
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_NE(made->plan, nullptr);
  EXPECT_EQ(made->plan->from.saved_bytes, saved_bytes(a));
  EXPECT_EQ(made->plan->to.saved_bytes, saved_bytes(b));
  EXPECT_EQ(made->plan->difference.total().saved_bytes,
            made->plan->to.saved_bytes - made->plan->from.saved_bytes);
  // The numbers of a pair are those of its plan: each is listed once.
  std::size_t peaks = 0;
  for (const MetricRow& row : metric_rows(*made))
    if (row.name.contains("peak", Qt::CaseInsensitive)) ++peaks;
  EXPECT_EQ(peaks, 1U);
}

// An increase has the color of a regression, so the rows count exposed collectives.
TEST(DocumentComparison, HidingACollectiveIsAnImprovement) {
  const auto step = [](const char* first, const char* second) {
    return test::snapshot_of(std::string(R"(
      group dp: 0 1
      x: f32[4096,4096] = input
      s: f32[64] = input
      ar: f32[64] = _c10d_functional.all_reduce(s, 'sum', 'dp')
)") + first + second + "return [w, mm]\n");
  };
  const char* const wait = "w: f32[64] = _c10d_functional.wait_tensor(ar)\n";
  const char* const product = "mm: f32[4096,4096] = aten.mm(x, x)\n";
  const SnapshotPtr exposed = step(wait, product), hidden = step(product, wait);
  ASSERT_EQ(exposed->analysis.simulation.hidden_count(), 0U);
  ASSERT_EQ(hidden->analysis.simulation.hidden_count(), 1U);
  const auto made = compare(exposed, hidden);
  ASSERT_TRUE(made) << made.error().message;
  const std::vector<MetricRow> rows = metric_rows(*made);
  const auto row = std::ranges::find_if(
      rows, [](const MetricRow& each) { return each.name == "Exposed collectives"; });
  ASSERT_NE(row, rows.end());
  EXPECT_EQ(row->change, -1);
  for (const MetricRow& each : rows)
    EXPECT_FALSE(each.name.contains("hidden", Qt::CaseInsensitive)) << each.name.toStdString();
}

// Nodes of another capture may have other names.
TEST(DocumentComparison, OtherNamesAreMatchedByStructure) {
  const SnapshotPtr a = tagged(MemoryPolicy::none);
  std::string text = test::layered_joint(3);
  for (const char* name : {"mm", "act", "out"})
    for (int layer = 2; layer >= 0; --layer) {
      const std::string was = fmt::format("{}{}", name, layer),
                        is = fmt::format("{}{}", name, layer + 7);
      for (std::size_t at = 0; (at = text.find(was, at)) != std::string::npos; at += is.size())
        text.replace(at, was.size(), is);
    }
  for (const char* name : {"d", "e", "t", "gw"})
    for (int layer = 3; layer >= 0; --layer) {
      const std::string was = fmt::format("{}{}", name, layer),
                        is = fmt::format("x{}{}", name, layer);
      for (std::size_t at = 0; (at = text.find(was, at)) != std::string::npos; at += is.size())
        text.replace(at, was.size(), is);
    }
  const auto made = compare(a, test::snapshot_of(text));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_FALSE(made->nodes->is_by_name());
  const GraphDifference& nodes = made->nodes->difference();
  EXPECT_TRUE(nodes.added.empty() && nodes.removed.empty() && nodes.changed.empty());
  EXPECT_EQ(made->plan, nullptr);
}

// Otherwise the numbers would differ because of the options.
TEST(DocumentComparison, BothAreAnalyzedWithTheSameOptions) {
  const SnapshotPtr a = tagged(MemoryPolicy::none);
  AnalysisOptions options;
  options.memory.optimizer = OptimizerState::adamw;
  const SnapshotPtr b = *make_snapshot(a->graph, options);
  ASSERT_NE(a->analysis.memory.peak_bytes(), b->analysis.memory.peak_bytes());
  const auto made = compare(a, b);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->to.snapshot->analysis.memory.peak_bytes(), a->analysis.memory.peak_bytes());
}

TEST(DocumentComparison, AStepAndAPairAreRefused) {
  const SnapshotPtr step = test::snapshot_of("kind train_step\n" + test::layered_joint(2));
  const auto made = compare(step, pair_of(tagged(MemoryPolicy::none)));
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("is a forward/backward pair"));
}

}  // namespace
}  // namespace jointer::views
