// Properties of all reordering passes, on random graphs and on captures: the graph stays sound and
// computes the same, nodes are only moved, collectives of a group keep their order, the result is
// deterministic, and budgets hold.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <future>

#include "core/graph/canonical.h"
#include "core/open/open.h"
#include "passes/reordering/reordering.h"
#include "tests/support/legal_order.h"
#include "tests/support/paths.h"
#include "tests/support/random_graph.h"
#include "tests/support/run_pass.h"
#include "tests/support/symbolic_run.h"

namespace jointer::test {
namespace {

const std::vector<std::string>& pipelines() {
  static const std::vector<std::string> kAll{
      "decide_global_ordering_of_comms",
      "enforce_comm_ordering_for_fsdp",
      "raise_comms",
      "sink_waits",
      "reorder_compute_for_overlap",
      "reorder_communication_preserving_peak_memory",
      "reorder_communication_preserving_peak_memory{reorder_iterative_use_runtime_estimations=true,"
      "reorder_iterative_group_with_collectives=true}",
      "sink_waits_iterative",
      "sink_waits_iterative{sink_iterative_use_runtime_estimations=true,"
      "sink_waits_iterative_swap_with_collectives=true}",
      "place_collectives",
      "place_collectives{least_gain_us=0,rounds=3,most=4}",
      "reorder_for_peak_memory",
      "reorder_for_peak_memory{size_threshold_for_succ_based_strategy=1000}",
      "reorder_compute_and_comm_for_overlap{passes=[reorder_communication_preserving_peak_memory,"
      "sink_waits_iterative,reorder_communication_preserving_peak_memory]}"};
  return kAll;
}

RC_GTEST_PROP(ReorderingProperty, OnlyTheOrderChangesAndLegally, (std::uint64_t seed, bool pair)) {
  const Graph graph = random_graph(seed, {.calls = 50, .pair = pair});
  const auto results = symbolic_run(graph);
  for (const std::string& pipeline : pipelines()) {
    const auto steps = run_pipeline_text(graph, pipeline);
    RC_ASSERT(steps.size() == 1U);
    const StepResult& step = steps[0];
    RC_ASSERT(step.added + step.removed + step.changed + step.retagged == 0U);
    RC_ASSERT(step.edit_refusal.empty());
    RC_ASSERT(keeps_dependencies(graph, *step.graph));
    RC_ASSERT(symbolic_run(*step.graph) == results);
    RC_ASSERT(starts_by_group(*step.graph) == starts_by_group(graph));
    const auto again = run_pipeline_text(graph, pipeline);
    RC_ASSERT(graph_hash(*again[0].graph) == graph_hash(*step.graph));
    RC_ASSERT(again[0].decisions == step.decisions);
    RC_ASSERT(again[0].tables == step.tables);
  }
}

RC_GTEST_PROP(ReorderingProperty, DeclaredIdempotenceHolds, (std::uint64_t seed, bool pair)) {
  const Graph graph = random_graph(seed, {.calls = 50, .pair = pair});
  for (const Pass& pass : reordering_passes()) {
    if (!pass.info.is_idempotent) continue;
    const auto steps = run_pipeline_text(graph, pass.info.name + "," + pass.info.name);
    RC_ASSERT(graph_hash(*steps[1].graph) == graph_hash(*steps[0].graph));
  }
}

// The peak of each half stays within its budget, measured by the timeline.
RC_GTEST_PROP(ReorderingProperty, BudgetsHold, (std::uint64_t seed, bool pair)) {
  const Graph graph = random_graph(seed, {.calls = 60, .pair = pair});
  const auto budget = *rc::gen::element(0.0, 0.05, 0.3);
  const std::string number = fmt::format("{}", budget);
  const auto peak = static_cast<double>(step_figures(graph, {})->figures.peak_bytes);
  for (const std::string& pipeline :
       {"reorder_communication_preserving_peak_memory{reorder_iterative_peak_memory_budget=" +
            number + "}",
        "sink_waits_iterative{sink_iterative_peak_memory_budget=" + number +
            ",sink_waits_iterative_swap_with_collectives=true}"}) {
    const auto steps = run_pipeline_text(graph, pipeline);
    RC_ASSERT(static_cast<double>(steps[0].after.figures.peak_bytes) <= peak * (1 + budget));
  }
  RC_ASSERT(static_cast<double>(
                run_pipeline_text(graph, "reorder_for_peak_memory")[0].after.figures.peak_bytes) <=
            peak);
}

class CaptureTest : public testing::TestWithParam<std::string> {};

TEST_P(CaptureTest, TwentyRunsOnAnyThreadAgree) {
  const auto graph = open_graph({.path = GetParam()});
  ASSERT_TRUE(graph) << graph.error().message;
  const auto dependencies_hold = [&](const Graph& after) {
    return keeps_dependencies(*graph, after);
  };
  for (const std::string& pipeline : pipelines()) {
    const auto hash = [&] {
      const auto steps = run_pipeline_text(*graph, pipeline);
      return steps.empty() ? std::string() : graph_hash(*steps[0].graph);
    };
    const auto first = run_pipeline_text(*graph, pipeline);
    ASSERT_EQ(first.size(), 1U);
    EXPECT_TRUE(dependencies_hold(*first[0].graph)) << pipeline;
    EXPECT_TRUE(first[0].edit_refusal.empty()) << pipeline << ": " << first[0].edit_refusal;
    const std::string expected = graph_hash(*first[0].graph);
    std::vector<std::future<std::string>> runs;
    for (int i = 0; i < 9; ++i) runs.push_back(std::async(std::launch::async, hash));
    for (auto& run : runs) EXPECT_EQ(run.get(), expected) << pipeline;
    for (int i = 0; i < 10; ++i) EXPECT_EQ(hash(), expected) << pipeline;
  }
}

std::vector<std::string> small_captures() {
  std::vector<std::string> found;
  for (const std::string& path : shared_captures())
    if (path.find("llama_tiny_fsdp2_f32.rank0") != std::string::npos ||
        path.find("llama_tiny_tp2_f32.rank0.joint") != std::string::npos)
      found.push_back(path);
  return found;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CaptureTest);
INSTANTIATE_TEST_SUITE_P(Shared, CaptureTest, testing::ValuesIn(small_captures()),
                         parameter_name<testing::TestParamInfo<std::string>>);

}  // namespace
}  // namespace jointer::test
