// The properties of every built-in pass with default parameters, on random graphs. Passes in the
// registry are included automatically; pass_sample_test.cpp tests the same on graphs as captures
// have them.

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "core/capture/native_writer.h"
#include "core/edit/replay.h"
#include "core/graph/canonical.h"
#include "core/graph/validate.h"
#include "tests/passes/run_pass.h"
#include "tests/support/legal_order.h"
#include "tests/support/random_graph.h"
#include "tests/support/run_pass.h"
#include "tests/support/slow.h"
#include "tests/support/symbolic_run.h"

namespace jointer::test {
namespace {

// ./test tries a fifth of the cases.
const std::uint64_t kGraphs = runs_slow_tests() ? 60 : 12;
const std::uint64_t kPipelines = runs_slow_tests() ? 200 : 40;
const int kRuns = runs_slow_tests() ? 20 : 4;

// A graph of `stage` by seed.
std::map<std::uint64_t, Graph> random_graphs(PassStage stage) {
  const bool is_joint = stage == PassStage::partition;
  std::map<std::uint64_t, Graph> graphs;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed)
    graphs.emplace(seed, random_graph(seed, {.calls = 40,
                                             .symbols = seed % 3 == 0,
                                             .pair = !is_joint && seed % 4 == 1,
                                             .gradients = is_joint || seed % 2 == 0,
                                             .writes = !is_joint}));
  return graphs;
}

// Runs a search as a short one: its properties do not depend on its length.
PipelineStep step_of(const std::string& pass) {
  PipelineStep step{.pass = pass, .given = {}};
  if (pass == "auto_tune") step.given.emplace_back("evaluations", 14);
  if (pass == "fastest_plan") step.given.emplace_back("effort", 60);
  return step;
}

// Empty if the pass refuses the graph, with one sentence.
std::optional<StepResult> run_one(const Graph& graph, const std::string& pass) {
  auto done = run_pipeline(graph, {step_of(pass)}, built_in_passes(), {});
  if (!done) {
    EXPECT_EQ(done.error().kind, Error::Kind::usage) << pass << ": " << done.error().message;
    return std::nullopt;
  }
  if (done->error) {
    EXPECT_NE(done->error->kind, Error::Kind::input) << done->error->message;
    EXPECT_EQ(done->error->message.find("invalid graph"), std::string::npos)
        << done->error->message;
    return std::nullopt;
  }
  return std::move(done->steps.front());
}

bool needs_python(const PassInfo& pass) {
  return pass.name == "inductor_decomposition" || pass.name == "full_inductor_compilation";
}

// tests/differential runs these on numbers.
bool is_by_other_operators(const PassInfo& pass) {
  return pass.stage == PassStage::bucketing || pass.stage == PassStage::search ||
         pass.name == "canonicalize_graph" || pass.name == "replace_view_copy_with_view";
}

class EveryPass : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static PassInfo info() { return built_in_passes().find(GetParam())->info; }
};

TEST_P(EveryPass, IsLegalDeterministicAndIdempotent) {
  const PassInfo pass = info();
  if (needs_python(pass)) GTEST_SKIP() << "it runs in Python, or after what does";
  std::size_t done = 0;
  for (const auto& [seed, graph] : random_graphs(pass.stage)) {
    SCOPED_TRACE(seed);
    const auto first = run_one(graph, pass.name);
    const auto second = run_one(graph, pass.name);
    ASSERT_EQ(first.has_value(), second.has_value());
    if (!first) continue;
    ++done;
    ASSERT_TRUE(validate(*first->graph));
    const std::string text = write_native(*first->graph);
    ASSERT_EQ(text, write_native(*second->graph)) << "two runs give different graphs";
    ASSERT_EQ(first->decisions, second->decisions);
    if (first->added + first->removed + first->changed == 0 && !first->graph->is_pair()) {
      ASSERT_TRUE(keeps_dependencies(graph, *first->graph));
    }
    if (!pass.is_idempotent) continue;
    const auto again = run_one(*first->graph, pass.name);
    ASSERT_TRUE(again) << "the pass refuses its own result";
    ASSERT_EQ(write_native(*again->graph), text) << "a second run changes something";
  }
  // Random graphs are not flat training steps, contain no layers of a transformer to bucket and no
  // experts, and joint ones have no halves yet.
  const bool wants_halves = pass.name == "multiplex_fw_bw_graph" || pass.name == "join" ||
                            pass.name.starts_with("split_");
  const bool wants_others = wants_halves || pass.stage == PassStage::bucketing ||
                            pass.name == "apply_cpu_offload" || pass.name == "ep_overlap_chunk" ||
                            pass.name == "selective_activation_remat";
  if (!wants_others) {
    EXPECT_GT(done, kGraphs / 3) << "the pass refuses most graphs";
  }
}

TEST_P(EveryPass, ManyRunsAgree) {
  const PassInfo pass = info();
  if (needs_python(pass)) GTEST_SKIP() << "it runs in Python, or after what does";
  const bool is_joint = pass.stage == PassStage::partition;
  const Graph graph = random_graph(7, {.calls = 300, .gradients = is_joint, .writes = !is_joint});
  const auto first = run_one(graph, pass.name);
  for (int i = 1; i < kRuns; ++i) {
    const auto again = run_one(graph, pass.name);
    ASSERT_EQ(first.has_value(), again.has_value());
    if (!first) continue;
    ASSERT_EQ(graph_hash(*first->graph), graph_hash(*again->graph));
  }
}

// Values are compared by the operators that made them, so passes that use other operators are left
// out.
TEST_P(EveryPass, ComputesTheSame) {
  const PassInfo pass = info();
  if (is_by_other_operators(pass)) GTEST_SKIP() << "it computes the same by other operators";
  if (needs_python(pass)) GTEST_SKIP() << "it runs in Python, or after what does";
  for (const auto& [seed, graph] : random_graphs(pass.stage)) {
    SCOPED_TRACE(seed);
    const auto step = run_one(graph, pass.name);
    if (!step) continue;
    ASSERT_EQ(symbolic_run(graph), symbolic_run(*step->graph));
  }
}

// The result of a pass is an edit, and a recipe with it reproduces the graph.
TEST_P(EveryPass, LeavesARecipe) {
  const PassInfo pass = info();
  if (pass.stage == PassStage::partition) GTEST_SKIP() << "it makes a new graph";
  if (needs_python(pass)) GTEST_SKIP() << "it runs in Python, or after what does";
  for (const auto& [seed, graph] : random_graphs(pass.stage)) {
    SCOPED_TRACE(seed);
    const auto step = run_one(graph, pass.name);
    if (!step) continue;
    // The result of a search on a joint graph begins with a partitioner.
    if (pass.stage == PassStage::search && !graph.is_pair()) continue;
    ASSERT_EQ(step->edit_refusal, "");
    if (step->edit.changes.empty()) continue;
    const Recipe recipe = make_recipe(graph, *step->graph, {step->edit}, "random");
    const auto read = read_recipe(write_recipe(recipe));
    ASSERT_TRUE(read) << read.error().message;
    Graph again = graph;
    const auto replayed = replay(again, *read);
    ASSERT_TRUE(replayed) << replayed.error().message;
    ASSERT_EQ(replayed->ends_as_recorded, true);
  }
}

// Passes run in sequence in any order: each accepts the result of the previous ones, or refuses it.
TEST(AnyPasses, FollowEachOther) {
  const PassRegistry registry = built_in_passes();
  for (std::uint64_t seed = 0; seed < kPipelines; ++seed) {
    SCOPED_TRACE(seed);
    const bool writes = seed % 5 != 0;
    std::mt19937_64 chance(seed);
    Graph graph = random_graph(seed, {.calls = 60,
                                      .symbols = seed % 3 == 0,
                                      .pair = seed % 4 == 1,
                                      .gradients = seed % 2 == 0,
                                      .writes = writes});
    for (int i = 0; i < 5; ++i) {
      const Pass& pass = registry.passes()[chance() % registry.passes().size()];
      if (needs_python(pass.info)) continue;
      SCOPED_TRACE(pass.info.name);
      const auto step = run_one(graph, pass.info.name);
      if (!step) continue;
      ASSERT_TRUE(validate(*step->graph));
      // Joint graphs from torch do not write to what they read.
      const bool is_cut = step->graph->is_pair() && !graph.is_pair();
      // The halves of one graph run different microbatches: what the backward reads is an input.
      const bool is_multiplexed = graph.is_pair() && !step->graph->is_pair();
      if (!is_by_other_operators(pass.info) && !(is_cut && writes) && !is_multiplexed) {
        ASSERT_EQ(symbolic_run(graph), symbolic_run(*step->graph));
      }
      ASSERT_TRUE(step->edit_refusal.empty() || is_cut || is_multiplexed) << step->edit_refusal;
      graph = *step->graph;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(BuiltIn, EveryPass, testing::ValuesIn(pass_names()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace jointer::test
