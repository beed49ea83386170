// Properties of the search, on random graphs.

#include "passes/tune/tuner.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "passes/built_in.h"
#include "passes/tune/search_space.h"
#include "tests/support/graphs.h"
#include "tests/support/joints.h"
#include "tests/support/random_graph.h"
#include "tests/support/slow.h"

namespace jointer::test {
namespace {

using ::testing::HasSubstr;

const PassRegistry& registry() {
  static const PassRegistry kRegistry = built_in_passes();
  return kRegistry;
}

TuneOptions options_of(std::size_t evaluations, std::uint64_t seed = 0) {
  TuneOptions options;
  options.context.analysis.estimator.name = "simple";
  options.evaluations = evaluations;
  options.seed = seed;
  return options;
}

TuneResult tuned(const Graph& graph, const TuneOptions& options, const TuneWatcher& watcher = {}) {
  auto result = tune(graph, registry(), options, watcher);
  EXPECT_TRUE(result) << result.error().message;
  return result ? *std::move(result) : TuneResult{};
}

std::string text_of(const TunePoint& point) {
  const Figures& f = point.figures.figures;
  return fmt::format("{} {} {} {} {} #{}", point.name, to_text(point.pipeline), f.step_ns,
                     f.peak_bytes, f.exposed_ns, point.evaluation);
}

// The whole result as text, except for the reason why the search ended.
std::string text_of(const TuneResult& result) {
  std::string text = fmt::format("budget {} evaluated {} taken apart {} over {}\n", *result.budget,
                                 result.evaluated, result.taken_apart, result.over_budget);
  if (result.winner) text += "winner " + text_of(*result.winner) + "\n";
  if (result.lowest) text += "lowest " + text_of(*result.lowest) + "\n";
  for (const TuneStep& step : result.steps)
    text += fmt::format("step {} {} {}\n", to_text(step.step), step.ns_more.value_or(-1),
                        step.bytes_more.value_or(-1));
  for (const TunePoint& point : result.frontier) text += "frontier " + text_of(point) + "\n";
  for (const TunePoint& point : result.presets) text += "preset " + text_of(point) + "\n";
  for (const auto& [reason, failures] : result.failures)
    text += fmt::format("failed {} {} {}\n", failures.count, reason, to_text(failures.first));
  return text;
}

// Pairs, whole graphs without partitioners, joint graphs.
std::vector<Graph> graphs(std::uint64_t count = 4) {
  std::vector<Graph> all;
  for (std::uint64_t seed = 0; seed < count; ++seed)
    all.push_back(random_graph(
        seed, {.calls = 30, .pair = seed % 3 == 1, .gradients = seed % 3 != 1, .writes = false}));
  return all;
}

TEST(Tuner, ThreadsDoNotChangeTheResult) {
  JOINTER_SLOW_TEST();
  for (const Graph& graph : graphs()) {
    TuneOptions options = options_of(40, 5);
    const std::string one = text_of(tuned(graph, options));
    for (const std::size_t threads : {2U, 5U}) {
      options.threads = threads;
      ASSERT_EQ(text_of(tuned(graph, options)), one);
    }
  }
}

TEST(Tuner, TheCacheDoesNotChangeTheResult) {
  JOINTER_SLOW_TEST();
  for (const Graph& graph : graphs()) {
    TuneOptions options = options_of(30, 2);
    options.threads = 2;
    const std::string kept = text_of(tuned(graph, options));
    for (const std::size_t graphs : {0U, 2U}) {
      options.kept_graphs = graphs;
      ASSERT_EQ(text_of(tuned(graph, options)), kept);
    }
  }
}

TEST(Tuner, AnotherSeedTriesOtherPipelines) {
  const Graph graph = random_graph(4, {.calls = 60, .pair = true});
  std::set<std::string> tried[2];
  for (const std::uint64_t seed : {0U, 1U})
    tuned(graph, options_of(80, seed), [&](const TuneProgress& progress) {
      tried[seed].insert(to_text(progress.point.pipeline));
    });
  EXPECT_NE(tried[0], tried[1]);
}

// The winner of a longer search is at least as good, and the first evaluations are the same.
TEST(Tuner, MoreEvaluationsAreNeverWorse) {
  JOINTER_SLOW_TEST();
  for (const Graph& graph : graphs()) {
    std::optional<TunePoint> last;
    for (const std::size_t evaluations : {1U, 3U, 11U, 20U, 37U, 70U}) {
      const TuneResult result = tuned(graph, options_of(evaluations, 3));
      ASSERT_EQ(result.evaluated, evaluations);
      if (last) {
        ASSERT_TRUE(result.winner);
        const Figures &now = result.winner->figures.figures, &then = last->figures.figures;
        ASSERT_LE(std::tuple(now.step_ns, now.peak_bytes, result.winner->pipeline.size()),
                  std::tuple(then.step_ns, then.peak_bytes, last->pipeline.size()));
      }
      last = result.winner;
    }
  }
}

TEST(Tuner, StaysWithinItsBudget) {
  JOINTER_SLOW_TEST();
  for (const Graph& graph : graphs()) {
    const TuneResult free = tuned(graph, options_of(40));
    for (const double share : {0.7, 0.9, 1.0, 1.2}) {
      TuneOptions options = options_of(40);
      const std::int64_t peak = free.unedited.figures.figures.peak_bytes;
      options.budget = static_cast<std::int64_t>(share * static_cast<double>(peak));
      const TuneResult result = tuned(graph, options);
      if (result.winner) {
        EXPECT_LE(result.winner->figures.figures.peak_bytes, *options.budget);
        EXPECT_FALSE(result.lowest);
      } else {
        ASSERT_TRUE(result.lowest);
        EXPECT_GT(result.lowest->figures.figures.peak_bytes, *options.budget);
        for (const TunePoint& point : result.frontier)
          EXPECT_GE(point.figures.figures.peak_bytes, result.lowest->figures.figures.peak_bytes);
      }
    }
  }
}

TEST(Tuner, TheFrontierIsAParetoFrontier) {
  for (const Graph& graph : graphs()) {
    std::size_t reported = 0;
    const TuneResult result = tuned(graph, options_of(40), [&](const TuneProgress& progress) {
      ++reported;
      const Figures& f = progress.point.figures.figures;
      const auto& frontier = progress.so_far.frontier;
      EXPECT_TRUE(std::any_of(frontier.begin(), frontier.end(), [&](const TunePoint& point) {
        return point.figures.figures.step_ns <= f.step_ns &&
               point.figures.figures.peak_bytes <= f.peak_bytes;
      }));
      EXPECT_EQ(progress.so_far.evaluated, progress.point.evaluation);
    });
    EXPECT_GT(reported, 0U);
    for (std::size_t i = 1; i < result.frontier.size(); ++i) {
      const Figures &a = result.frontier[i - 1].figures.figures,
                    &b = result.frontier[i].figures.figures;
      EXPECT_LT(a.peak_bytes, b.peak_bytes);
      EXPECT_GT(a.step_ns, b.step_ns);
    }
  }
}

// The gain of a step is the difference to a run without it; every step of the winner has one.
TEST(Tuner, EveryStepOfTheWinnerGainsSomething) {
  JOINTER_SLOW_TEST();
  std::size_t looked_at = 0;
  for (const Graph& graph : graphs(9)) {
    const TuneResult result = tuned(graph, options_of(60));
    if (!result.winner) continue;
    ASSERT_EQ(result.steps.size(), result.winner->pipeline.size());
    PassContext::Options context = options_of(1).context;
    context.peak_limit = result.budget;
    for (std::size_t i = 0; i < result.steps.size(); ++i) {
      const TuneStep& step = result.steps[i];
      EXPECT_EQ(step.step, result.winner->pipeline[i]);
      if (!step.ns_more) continue;
      ++looked_at;
      Pipeline without = result.winner->pipeline;
      without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
      const auto run = run_pipeline(graph, without, registry(), context);
      ASSERT_TRUE(run && !run->error);
      const StepFigures figures =
          run->steps.empty() ? result.unedited.figures : run->steps.back().after;
      const Figures& now = result.winner->figures.figures;
      EXPECT_EQ(figures.figures.step_ns - now.step_ns, *step.ns_more);
      EXPECT_EQ(figures.figures.peak_bytes - now.peak_bytes, *step.bytes_more);
      const bool fits = figures.figures.peak_bytes <= *result.budget;
      EXPECT_TRUE(!fits || std::pair(*step.ns_more, *step.bytes_more) > std::pair(0L, 0L));
    }
  }
  EXPECT_GT(looked_at, 5U);
}

// A search that is cancelled at any point equals a shorter search.
TEST(Tuner, ACancelledSearchEqualsAShorterOne) {
  JOINTER_SLOW_TEST();
  for (const Graph& graph : graphs())
    for (const std::size_t stop_at : {1U, 6U, 21U}) {
      TuneOptions options = options_of(100, 9);
      options.threads = 2;
      std::size_t reported = 0;
      options.context.is_cancelled = [&] { return reported >= stop_at; };
      const TuneResult stopped = tuned(graph, options, [&](const TuneProgress& progress) {
        reported = progress.so_far.evaluated;
      });
      EXPECT_EQ(stopped.end, TuneResult::End::cancelled);
      const TuneResult shorter = tuned(graph, options_of(stopped.evaluated, 9));
      // The cancellation may have interrupted the removal of steps from the last winner.
      ASSERT_TRUE(stopped.winner.has_value() == shorter.winner.has_value());
      if (!stopped.winner) continue;
      EXPECT_GE(stopped.winner->figures.figures.step_ns, shorter.winner->figures.figures.step_ns);
      if (stopped.taken_apart == shorter.taken_apart) {
        EXPECT_EQ(text_of(stopped), text_of(shorter));
      }
    }
}

TEST(Tuner, ATimeLimitEndsIt) {
  const Graph graph = random_graph(4, {.calls = 60, .pair = true});
  TuneOptions options = options_of(1000000);
  options.seconds = 0.2;
  const TuneResult result = tuned(graph, options);
  EXPECT_EQ(result.end, TuneResult::End::time);
  EXPECT_LT(result.evaluated, 1000000U);
  EXPECT_TRUE(result.winner);
}

TEST(Tuner, CancellationBeforeTheStartIsAnError) {
  TuneOptions options = options_of(10);
  options.context.is_cancelled = [] { return true; };
  const auto result = tune(random_graph(4), registry(), options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, Error::Kind::cancelled);
}

TEST(Tuner, AJointGraphBecomesAPair) {
  const Graph graph = parse(layered_joint(6));
  const TuneResult result = tuned(graph, options_of(60));
  ASSERT_TRUE(result.winner);
  EXPECT_EQ(result.out_of_reach, "");
  const auto run = run_pipeline(graph, result.winner->pipeline, registry(), options_of(1).context);
  ASSERT_TRUE(run && !run->error);
  EXPECT_TRUE(run->steps.back().graph->is_pair());
  for (const TunePoint& point : result.frontier) {
    const auto partitioners =
        std::count_if(point.pipeline.begin(), point.pipeline.end(), [](const PipelineStep& step) {
          return registry().find(step.pass)->info.stage == PassStage::partition;
        });
    EXPECT_EQ(partitioners, 1) << to_text(point.pipeline);
  }
}

TEST(Tuner, PoliciesAreNotTriedOnAPair) {
  const Graph graph = random_graph(1, {.pair = true});
  const TuneResult result = tuned(graph, options_of(60));
  EXPECT_THAT(result.out_of_reach, HasSubstr("Only orders and buckets"));
  for (const TunePoint& point : result.frontier)
    for (const PipelineStep& step : point.pipeline)
      EXPECT_THAT((std::set{PassStage::bucketing, PassStage::reordering}),
                  ::testing::Contains(registry().find(step.pass)->info.stage));
}

TEST(SearchSpace, ChangesFitTheRegistryAndTheGraph) {
  std::size_t failed = 0, run = 0;
  for (const Graph& graph : graphs()) {
    const SearchSpace space(graph, registry());
    Chance chance(1);
    Candidate candidate = space.starts().back().candidate;
    for (int i = 0; i < 300; ++i) {
      candidate = space.changed(std::move(candidate), chance);
      const Pipeline pipeline = candidate.pipeline();
      ASSERT_TRUE(registry().check(pipeline)) << to_text(pipeline);
      ASSERT_EQ(*parse_pipeline(to_text(pipeline)), pipeline);
      if (i % 60 != 0) continue;
      const auto done = run_pipeline(graph, pipeline, registry(), {});
      ++run;
      failed += !done || done->error ? 1 : 0;
    }
  }
  EXPECT_LT(failed, run / 2);
}

TEST(SearchSpace, ChangesPoliciesAndPartitionsWithoutCollectives) {
  const Graph graph = parse(layered_joint(3));
  const SearchSpace space(graph, registry());
  Chance chance(1);
  const Candidate first = space.starts().back().candidate;
  std::set<std::string> policies, partitions;
  for (int i = 0; i < 100; ++i) {
    const Candidate changed = space.changed(first, chance);
    EXPECT_TRUE(changed.sections[Candidate::buckets].empty());
    policies.insert(to_text(changed.sections[Candidate::policies]));
    partitions.insert(to_text(changed.sections[Candidate::partitioner]));
  }
  EXPECT_GT(policies.size(), 2U);
  EXPECT_GT(partitions.size(), 2U);
}

TEST(SearchSpace, CreatesNoTwinGroupsIfDisabled) {
  const Graph graph = random_graph(1, {.pair = true});
  const SearchSpace space(graph, registry(), {.twin_groups = false});
  Chance chance(1);
  std::vector<Candidate> candidates;
  for (const NamedCandidate& start : space.starts()) candidates.push_back(start.candidate);
  for (int i = 0; i < 300; ++i) candidates.push_back(space.changed(candidates.back(), chance));
  for (const Candidate& candidate : candidates)
    for (const PipelineStep& step : candidate.pipeline()) EXPECT_NE(step.pass, "reassign_to_pg");
}

}  // namespace
}  // namespace jointer::test
