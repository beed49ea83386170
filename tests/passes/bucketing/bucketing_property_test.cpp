// For any graph, the result of a bucketing pass is sound, computes the same if nothing was merged,
// is deterministic, and can be expressed as edits.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/edit/edit.h"
#include "core/graph/canonical.h"
#include "core/graph/validate.h"
#include "tests/passes/run_pass.h"
#include "tests/support/random_graph.h"
#include "tests/support/symbolic_run.h"

namespace jointer::test {
namespace {

Graph some_graph() {
  return random_graph(*rc::gen::arbitrary<std::uint64_t>(),
                      {.calls = *rc::gen::inRange<std::size_t>(2, 80),
                       .symbols = *rc::gen::arbitrary<bool>(),
                       .pair = *rc::gen::arbitrary<bool>(),
                       .writes = *rc::gen::arbitrary<bool>()});
}

StepResult check(const Graph& graph, std::string_view pipeline) {
  StepResult step = run_pass(graph, pipeline);
  const auto sound = validate(*step.graph);
  if (!sound) RC_FAIL(sound.error().message);
  if (!step.edit_refusal.empty()) RC_FAIL(step.edit_refusal);
  Graph edited = graph;
  if (const auto done = apply(edited, step.edit); !done) RC_FAIL(done.error().message);
  RC_ASSERT(graph_hash(edited) == graph_hash(*step.graph));
  RC_ASSERT(graph_hash(*run_pass(graph, pipeline).graph) == graph_hash(*step.graph));
  return step;
}

RC_GTEST_PROP(BucketingProperty, OrdersComputeTheSame, ()) {
  const Graph graph = some_graph();
  for (const std::string_view torch : {"true", "false"}) {
    const StepResult step =
        check(graph, fmt::format("autobucketing_reordering{{collective_bucketing=false,"
                                 "pre_bucketing_fsdp_collectives=false,"
                                 "torch_compatible={}}}",
                                 torch));
    RC_ASSERT(step.added == 0U);
    RC_ASSERT(symbolic_run(*step.graph) == symbolic_run(graph));
  }
}

RC_GTEST_PROP(BucketingProperty, BucketsAreSound, ()) {
  const Graph graph = some_graph();
  for (const std::string_view pipeline :
       {"autobucketing_reordering", "autobucketing_reordering{torch_compatible=true}",
        "autobucketing_reordering{torch_compatible=true,bucket_exposed_first=false}",
        "greedy_bucketing_by_mb", "greedy_bucketing_by_mb{multidtype=true}",
        "transformer_block_bucketing"}) {
    const StepResult step = check(graph, pipeline);
    if (step.added == 0) RC_ASSERT(symbolic_run(*step.graph) == symbolic_run(graph));
  }
}

// Found by BucketsAreSound: a view that nothing reads was placed after the output.
TEST(BucketingProperty, NothingFollowsTheOutput) {
  const Graph graph =
      random_graph(2863337027151, {.calls = 49, .symbols = false, .pair = true, .writes = true});
  const StepResult step = run_pass(graph, "transformer_block_bucketing");
  EXPECT_TRUE(validate(*step.graph).has_value());
  EXPECT_GT(step.moved + step.added, 0U);
}

RC_GTEST_PROP(BucketingProperty, TheLimitHolds, ()) {
  const Graph graph = some_graph();
  const StepResult step = run_pass(graph,
                                   "autobucketing_reordering{max_memory_increase_gb=0,"
                                   "max_memory_increase_ratio=0}");
  RC_ASSERT(step.after.figures.peak_bytes <= step.before.figures.peak_bytes);
}

RC_GTEST_PROP(BucketingProperty, TwinGroupsAreCreatedOnce, ()) {
  const Graph graph = some_graph();
  const StepResult once = check(graph, "reassign_to_pg");
  const StepResult twice = run_pass(*once.graph, "reassign_to_pg");
  RC_ASSERT(graph_hash(*twice.graph) == graph_hash(*once.graph));
}

TEST(BucketingDeterminism, TwentyRunsAgree) {
  const Graph graph = random_graph(7, {.calls = 200});
  for (const std::string_view pipeline :
       {"autobucketing_reordering", "greedy_bucketing_by_mb", "transformer_block_bucketing"}) {
    const std::string hash = graph_hash(*run_pass(graph, pipeline).graph);
    for (int i = 1; i < 20; ++i) EXPECT_EQ(graph_hash(*run_pass(graph, pipeline).graph), hash);
  }
}

}  // namespace
}  // namespace jointer::test
