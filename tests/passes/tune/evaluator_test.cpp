#include "passes/tune/evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <thread>
#include <utility>

#include "core/graph/canonical.h"
#include "passes/built_in.h"
#include "tests/support/random_graph.h"

namespace jointer::test {
namespace {

using ::testing::HasSubstr;

Pipeline pipeline(std::string_view text) {
  auto parsed = parse_pipeline(text);
  EXPECT_TRUE(parsed) << parsed.error().message;
  return *std::move(parsed);
}

std::unique_ptr<Evaluator> evaluator(const Graph& graph, const PassRegistry& registry,
                                     std::size_t kept_graphs = 16) {
  Evaluator::Options options;
  options.kept_graphs = kept_graphs;
  return *Evaluator::make(graph, registry, std::move(options));
}

constexpr std::string_view kBeginning = "raise_comms,sink_waits";

// The built-in passes. They count their runs.
PassRegistry counting_passes(std::size_t& runs) {
  const PassRegistry built_in = built_in_passes();
  PassRegistry counting;
  for (Pass pass : built_in.passes()) {
    pass.run = [run = pass.run, &runs](Graph& graph, const Arguments& arguments,
                                       PassContext& context) {
      ++runs;
      return run(graph, arguments, context);
    };
    EXPECT_TRUE(counting.add(std::move(pass)));
  }
  return counting;
}

TEST(Evaluator, EqualsARunOfThePipeline) {
  const PassRegistry registry = built_in_passes();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Graph graph = random_graph(seed, {.pair = seed % 2 == 0});
    const auto evaluator_of_it = evaluator(graph, registry);
    for (const std::string_view text : {"", "raise_comms", "raise_comms,sink_waits"}) {
      const auto run = run_pipeline(graph, pipeline(text), registry, {});
      ASSERT_TRUE(run && !run->error);
      const Graph& after = run->steps.empty() ? graph : *run->steps.back().graph;
      const auto evaluated = evaluator_of_it->evaluate(pipeline(text));
      ASSERT_TRUE(evaluated && !evaluated->failure);
      EXPECT_EQ(evaluated->figures, *step_figures(after, {}));
      EXPECT_EQ(graph_hash(**evaluator_of_it->graph_of(pipeline(text))), graph_hash(after));
    }
  }
}

TEST(Evaluator, RunsCommonPrefixesOnce) {
  std::size_t runs = 0;
  const PassRegistry registry = counting_passes(runs);
  const Graph graph = random_graph(3);
  const auto keeps = evaluator(graph, registry);
  for (const std::string_view more : {"", ",reorder_for_peak_memory", ",raise_comms"})
    ASSERT_TRUE(keeps->evaluate(pipeline(std::string(kBeginning) + std::string(more))));
  EXPECT_EQ(runs, 2U + 1U + 1U);
  ASSERT_TRUE(keeps->evaluate(pipeline(kBeginning)));
  EXPECT_EQ(runs, 4U) << "evaluated pipelines are cached";

  runs = 0;
  const auto forgets = evaluator(graph, registry, 0);
  for (const std::string_view more : {"", ",reorder_for_peak_memory", ",raise_comms"})
    ASSERT_TRUE(forgets->evaluate(pipeline(std::string(kBeginning) + std::string(more))));
  EXPECT_EQ(runs, 2U + 3U + 3U);
}

// The oldest graph is evicted, and computed again on request.
TEST(Evaluator, LimitsTheNumberOfKeptGraphs) {
  std::size_t runs = 0;
  const PassRegistry registry = counting_passes(runs);
  const Graph graph = random_graph(3);
  const auto keeps_one = evaluator(graph, registry, 1);
  ASSERT_TRUE(keeps_one->graph_of(pipeline("raise_comms")));
  ASSERT_TRUE(keeps_one->graph_of(pipeline("sink_waits")));
  runs = 0;
  ASSERT_TRUE(keeps_one->graph_of(pipeline("sink_waits")));
  EXPECT_EQ(runs, 0U);
  ASSERT_TRUE(keeps_one->graph_of(pipeline("raise_comms")));
  EXPECT_EQ(runs, 1U);
}

TEST(Evaluator, FailuresAreResults) {
  std::size_t runs = 0;
  const PassRegistry registry = counting_passes(runs);
  const Graph pair = random_graph(1, {.pair = true});
  const auto of_pair = evaluator(pair, registry);
  for (const std::string_view text : {"apply_sac", "apply_sac,raise_comms"}) {
    const auto evaluated = of_pair->evaluate(pipeline(text));
    ASSERT_TRUE(evaluated && evaluated->failure);
    EXPECT_EQ(evaluated->failure->step, "apply_sac");
    EXPECT_THAT(evaluated->failure->reason, HasSubstr("this graph is already a pair"));
  }
  for (const std::string_view text : {"raise_coms", "raise_comms{no=1}"}) {
    const auto evaluated = of_pair->evaluate(pipeline(text));
    ASSERT_TRUE(evaluated && evaluated->failure) << text;
  }
  EXPECT_EQ(runs, 1U) << "pipelines with a failed prefix fail without a run";
  EXPECT_FALSE(of_pair->graph_of(pipeline("apply_sac")));
}

TEST(Evaluator, IsThreadSafe) {
  const PassRegistry registry = built_in_passes();
  const Graph graph = random_graph(11, {.calls = 200});
  const auto shared = evaluator(graph, registry, 4);
  std::vector<Pipeline> pipelines;
  for (const std::string_view first : {"raise_comms", "sink_waits", "reorder_for_peak_memory"})
    for (const std::string_view second :
         {"sink_waits_iterative", "raise_comms", "reorder_compute_for_overlap"})
      pipelines.push_back(pipeline(std::string(first) + "," + std::string(second)));
  std::vector<StepFigures> expected;
  for (const Pipeline& each : pipelines)
    expected.push_back(evaluator(graph, registry, 0)->evaluate(each)->figures);
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < 4; ++thread)
      threads.emplace_back([&, thread] {
        for (std::size_t i = 0; i < pipelines.size(); ++i) {
          const std::size_t at = (i + thread) % pipelines.size();
          const auto evaluated = shared->evaluate(pipelines[at]);
          if (!evaluated || !(evaluated->figures == expected[at])) ++wrong;
        }
      });
  }
  EXPECT_EQ(wrong, 0);
}

TEST(Evaluator, CanBeCancelled) {
  const PassRegistry registry = built_in_passes();
  const Graph graph = random_graph(3);
  Evaluator::Options options;
  bool is_cancelled = false;
  options.context.is_cancelled = [&] { return is_cancelled; };
  const auto made = *Evaluator::make(graph, registry, std::move(options));
  ASSERT_TRUE(made->evaluate(pipeline("raise_comms")));
  is_cancelled = true;
  const auto ended = made->evaluate(pipeline("raise_comms,sink_waits"));
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind, Error::Kind::cancelled);
  is_cancelled = false;
  EXPECT_TRUE(made->evaluate(pipeline("raise_comms,sink_waits")))
      << "the cancelled evaluation left no trace";
}

// For example, if there is no memory for a copy of the graph.
TEST(Evaluator, ContinuesAfterAnException) {
  const PassRegistry registry = built_in_passes();
  const Graph graph = random_graph(3);
  Evaluator::Options options;
  bool throws = true;
  int asked = 0;  // cancels if the prefix is waited for
  options.context.is_cancelled = [&] {
    if (std::exchange(throws, false)) throw std::bad_alloc();
    return ++asked > 300;
  };
  const auto made = *Evaluator::make(graph, registry, std::move(options));
  EXPECT_THROW((void)made->evaluate(pipeline("raise_comms")), std::bad_alloc);
  EXPECT_TRUE(made->evaluate(pipeline("raise_comms")));
}

}  // namespace
}  // namespace jointer::test
