#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "core/base/units.h"
#include "core/capture/native_writer.h"
#include "core/edit/replay.h"
#include "core/graph/canonical.h"
#include "passes/tune/auto_tune.h"
#include "tests/support/graphs.h"
#include "tests/support/joints.h"
#include "tests/support/random_graph.h"
#include "tests/support/run_pass.h"
#include "tests/support/slow.h"

namespace jointer::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kTune = "auto_tune{evaluations=40}";

StepResult tuned(const Graph& graph, std::string_view pipeline = kTune,
                 const PassContext::Options& options = {}) {
  std::vector<StepResult> steps = run_pipeline_text(graph, pipeline, options);
  EXPECT_EQ(steps.size(), 1U);
  return steps.empty() ? StepResult{} : std::move(steps.front());
}

std::vector<std::string> reasons(const StepResult& step, std::string_view action) {
  std::vector<std::string> found;
  for (const Decision& decision : step.decisions)
    if (decision.action == action && decision.pass == "auto_tune") found.push_back(decision.reason);
  return found;
}

// The result consists of the edits of the winner's steps in sequence, except for a partitioner's.
TEST(AutoTune, LeavesTheStepsOfTheWinnerAsARecipe) {
  std::size_t several = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Graph graph = random_graph(seed, {.calls = 60, .pair = true});
    const StepResult step = tuned(graph);
    ASSERT_EQ(step.edit_refusal, "");
    if (step.edits.empty()) continue;
    const Recipe recipe = make_recipe(graph, *step.graph, step.edits, "tuned");
    const auto read = read_recipe(write_recipe(recipe));
    ASSERT_TRUE(read) << read.error().message;
    Graph again = graph;
    const auto replayed = replay(again, *read);
    ASSERT_TRUE(replayed) << replayed.error().message;
    EXPECT_EQ(replayed->ends_as_recorded, true);
    EXPECT_EQ(graph_hash(again), graph_hash(*step.graph));
    for (const Edit& edit : step.edits)
      EXPECT_THAT(edit.by, ::testing::Not(HasSubstr("auto_tune")));
    several += step.edits.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(several, 0U);
}

// The reported pipeline gives the same graph without a search.
TEST(AutoTune, TheReportedPipelineGivesTheSameGraph) {
  for (const Graph& graph :
       {random_graph(1, {.calls = 60, .pair = true}), parse(layered_joint(5))}) {
    const StepResult step = tuned(graph);
    ASSERT_FALSE(step.ran.steps.empty());
    PassContext::Options options;
    options.peak_limit = step.ran.peak_limit;
    const auto steps = run_pipeline_text(graph, to_text(step.ran.steps), options);
    ASSERT_FALSE(steps.empty());
    EXPECT_EQ(write_native(*steps.back().graph), write_native(*step.graph));
    EXPECT_EQ(steps.back().after, step.after);
  }
}

TEST(AutoTune, ReportsItsChoiceAndTheGainOfEachStep) {
  const StepResult step = tuned(parse(layered_joint(5)));
  EXPECT_EQ(reasons(step, "chosen").size(), 1U);
  EXPECT_EQ(reasons(step, "step").size(), step.ran.steps.size());
  for (const std::string& reason : reasons(step, "step"))
    EXPECT_THAT(reason, ::testing::AnyOf(HasSubstr("Without it"), HasSubstr("not evaluated")));
  EXPECT_THAT(reasons(step, "searched").front(), StartsWith("Evaluated 40 candidates"));
  EXPECT_THAT(reasons(step, "note").front(), HasSubstr("--budget"));
  ASSERT_TRUE(step.ran.peak_limit);
  ASSERT_GE(*step.ran.peak_limit, 1'000);
  EXPECT_THAT(reasons(step, "note").front(),
              HasSubstr(fmt::format("within {} bytes", format_count(*step.ran.peak_limit))));
  ASSERT_GE(step.tables.size(), 2U);
  EXPECT_EQ(step.tables[0].rows.size(), step.ran.steps.size());
  // The steps' own decisions are listed under the names of their passes.
  EXPECT_TRUE(std::any_of(step.decisions.begin(), step.decisions.end(), [](const Decision& each) {
    return each.pass.ends_with("_partition") || each.pass == "knapsack_budget" ||
           each.pass == "fastest_plan";
  }));
}

TEST(AutoTune, SaysTheGainOfAStepInASentence) {
  constexpr std::int64_t kMs = 1'000'000, kMiB = 1 << 20;
  const auto text = [](std::int64_t ns, std::int64_t bytes) {
    TuneStep step;
    step.ns_more = ns;
    step.bytes_more = bytes;
    return gain_text(step);
  };
  EXPECT_EQ(gain_text(TuneStep{}), "Its gain was not evaluated.");
  EXPECT_EQ(text(2 * kMs, 0), "Without it, the step would take 2.00 ms longer.");
  EXPECT_EQ(text(-2 * kMs, 3 * kMiB),
            "Without it, the step would take 2.00 ms less, and the peak would be 3.00 MiB higher.");
  EXPECT_EQ(text(0, -3 * kMiB),
            "Without it, the step would take the same time, and the peak would be 3.00 MiB lower.");
}

TEST(AutoTune, DifferentEstimatesOfAStepDoNotLookTheSame) {
  constexpr std::int64_t kMs = 1'000'000, kGiB = 1 << 30;
  const Figures before{.peak_bytes = 40 * kGiB, .step_ns = 400 * kMs};
  const auto text = [&](std::int64_t bytes, std::int64_t ns) {
    return change_text(before, {.peak_bytes = bytes, .step_ns = ns});
  };
  EXPECT_EQ(text(40 * kGiB, 400 * kMs),
            "the step still takes 400 ms, and the peak is still 40.0 GiB.");
  EXPECT_EQ(text(30 * kGiB, 300 * kMs),
            "the step takes 300 ms (was 400 ms), and the peak is 30.0 GiB (was 40.0 GiB).");
  EXPECT_EQ(text(40 * kGiB + 1, 400 * kMs - 1),
            "the step takes 399,999,999 ns (was 400,000,000 ns), and the peak is "
            "42,949,672,961 B (was 42,949,672,960 B).");
}

TEST(AutoTune, ThreadsDoNotChangeTheResult) {
  const Graph graph = random_graph(5, {.calls = 80, .pair = true});
  const StepResult one = tuned(graph, "auto_tune{evaluations=40,threads=1}");
  const StepResult four = tuned(graph, "auto_tune{evaluations=40,threads=4}");
  EXPECT_EQ(write_native(*one.graph), write_native(*four.graph));
  EXPECT_EQ(one.decisions, four.decisions);
  EXPECT_EQ(one.tables, four.tables);
}

TEST(AutoTune, KeepsEveryBudget) {
  JOINTER_SLOW_TEST();
  const Graph graph = parse(layered_joint(6));
  const std::int64_t peak = step_figures(graph, {})->figures.peak_bytes;
  for (const double share : {1.0, 0.9}) {
    const StepResult step =
        tuned(graph, fmt::format("auto_tune{{evaluations=60,memory_share={}}}", share));
    EXPECT_LE(static_cast<double>(step.after.figures.peak_bytes),
              share * static_cast<double>(peak));
  }
  // The run's own limit holds, whatever the pass's parameters.
  PassContext::Options options;
  options.peak_limit = peak * 9 / 10;
  const StepResult step = tuned(graph, "auto_tune{evaluations=60,memory_share=2}", options);
  EXPECT_LE(step.after.figures.peak_bytes, *options.peak_limit);
}

TEST(AutoTune, LeavesTheGraphIfNothingFits) {
  const Graph graph = random_graph(4, {.pair = true});
  const StepResult step = tuned(graph, "auto_tune{evaluations=20,memory_budget=1}");
  EXPECT_EQ(graph_hash(*step.graph), graph_hash(graph));
  EXPECT_TRUE(step.edits.empty());
  EXPECT_TRUE(step.ran.steps.empty());
  EXPECT_THAT(reasons(step, "kept").front(), HasSubstr("The candidate with the lowest peak is"));
}

// A cancelled pass leaves the graph unchanged.
TEST(AutoTune, CanBeCancelledQuickly) {
  const Graph graph = random_graph(4, {.calls = 400, .pair = true});
  PassContext::Options options;
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  options.is_cancelled = [&] { return seconds() > 0.3; };
  const auto run = run_pipeline(graph, *parse_pipeline("auto_tune{evaluations=1000000}"),
                                built_in_passes(), options);
  ASSERT_TRUE(run && run->error);
  EXPECT_EQ(run->error->kind, Error::Kind::cancelled);
  EXPECT_LT(seconds(), 10);  // the machine may be busy; the benchmark measures the time
}

TEST(AutoTune, ReportsThatThereWasNoTime) {
  const Graph graph = random_graph(3, {.calls = 60, .pair = true});
  const StepResult none = tuned(graph, "auto_tune{seconds=0}");
  const auto kept = reasons(none, "kept");
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_THAT(kept.front(), StartsWith("No candidate was tried in the available time."));
  EXPECT_THAT(kept.front(), HasSubstr("The unchanged graph is within"));
  const StepResult over = tuned(graph, "auto_tune{seconds=0,memory_budget=1}");
  EXPECT_THAT(reasons(over, "kept").front(), HasSubstr("The unchanged graph is over"));
  EXPECT_EQ(over.ran.peak_limit, 1);
  EXPECT_TRUE(over.ran.steps.empty());
}

}  // namespace
}  // namespace jointer::test
