#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/edit/replay.h"
#include "core/graph/canonical.h"
#include "tests/passes/run_pass.h"
#include "tests/support/graphs.h"
#include "tests/support/names.h"
#include "tests/support/random_graph.h"

namespace jointer::test {
namespace {

using ::testing::HasSubstr;

// The second layer's parameter can be gathered during the first one's product, or even earlier.
constexpr std::string_view kLayers = R"(
  group dp: 0 1
  x: bf16[4096,4096] = input
  p: bf16[2048,4096] = parameter
  q: f32[2048,4096] = parameter
  ag_p: bf16[4096,4096] = _c10d_functional.all_gather_into_tensor(p, 2, 'dp')
  wt_p: bf16[4096,4096] = _c10d_functional.wait_tensor(ag_p)
  y: bf16[4096,4096] = aten.mm(x, wt_p)
  cast: bf16[2048,4096] = prims.convert_element_type(q, dtype=bf16)
  ag_q: bf16[4096,4096] = _c10d_functional.all_gather_into_tensor(cast, 2, 'dp')
  wt_q: bf16[4096,4096] = _c10d_functional.wait_tensor(ag_q)
  z: bf16[4096,4096] = aten.mm(y, wt_q)
  return [z]
)";

TEST(PlaceCollectives, StartsDuringComputeAndMovesInputsAlong) {
  const StepResult step = run_pass(parse(kLayers), "place_collectives{peak_memory_budget=1}");
  const Graph& graph = *step.graph;
  EXPECT_TRUE(is_before(graph, "ag_q", "y"));
  EXPECT_TRUE(is_before(graph, "cast", "ag_q"));
  EXPECT_TRUE(is_before(graph, "ag_p", "ag_q")) << "the collectives keep their order";
  EXPECT_LT(step.after.figures.step_ns, step.before.figures.step_ns);
  EXPECT_THAT(reason_of(step, "ag_q", "moved"), HasSubstr("the step time decreases by"));
  ASSERT_FALSE(step.edits.empty());
  EXPECT_THAT(step.edits.front().title, HasSubstr("Move ag_q and a node"));
  EXPECT_EQ(step.edits.front().by, "place_collectives");
}

TEST(PlaceCollectives, MovesNothingBelowTheMinimumGain) {
  const StepResult step =
      run_pass(parse(kLayers), "place_collectives{peak_memory_budget=1,least_gain_us=1000000}");
  EXPECT_EQ(step.moved, 0U);
  EXPECT_TRUE(step.edits.empty());
  EXPECT_THAT(reason_of(step, "", "kept"), HasSubstr("No collective has a better position"));
}

// There is no memory for an earlier start.
TEST(PlaceCollectives, KeepsThePeak) {
  const StepResult step = run_pass(parse(kLayers), "place_collectives");
  EXPECT_LE(step.after.figures.peak_bytes, step.before.figures.peak_bytes);
}

RC_GTEST_PROP(PlaceCollectives, IsNeverWorseAndItsEditIsItsResult, (bool pair)) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const Graph graph = random_graph(seed, {.calls = 60, .pair = pair});
  const auto budget = *rc::gen::element(0.0, 0.1, 1.0);
  const StepResult step = run_pass(
      graph, fmt::format("place_collectives{{peak_memory_budget={},least_gain_us=0}}", budget));
  const Figures &was = step.before.figures, &is = step.after.figures;
  RC_ASSERT(is.step_ns <= was.step_ns);
  RC_ASSERT(static_cast<double>(is.peak_bytes) <=
            static_cast<double>(was.peak_bytes) * (1 + budget));
  Graph again = graph;
  for (const Edit& edit : step.edits) {
    const auto applied = apply(again, edit);
    if (!applied) RC_FAIL(applied.error().message);
  }
  RC_ASSERT(graph_hash(again) == graph_hash(*step.graph));
}

}  // namespace
}  // namespace jointer::test
