#include "core/pass/pipeline_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>

#include "core/capture/native_writer.h"
#include "core/graph/canonical.h"
#include "core/open/open.h"
#include "core/pass/pipeline_rules.h"
#include "tests/support/graphs.h"
#include "tests/support/temporary_folder.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;

const char* const kRunGraph = R"(
  group fsdp: 0 1
  w: f32[512,512] = parameter
  x: f32[512,512] = input
  g: f32[1024,512] = _c10d_functional.all_gather_into_tensor(w, 2, 'fsdp')
  v: f32[1024,512] = _c10d_functional.wait_tensor(g)
  a: f32[512,512] = aten.mm(x, x)
  y: f32[1024,512] = aten.mm(v, a)
  return [y]
)";

PassRegistry registry_of(std::vector<Pass> passes) {
  PassRegistry registry;
  for (Pass& pass : passes) {
    const auto added = registry.add(std::move(pass));
    EXPECT_TRUE(added) << added.error().message;
  }
  return registry;
}

Pass pass_of(const std::string& name,
             std::function<Result<void>(Graph&, const Arguments&, PassContext&)> run,
             std::vector<Parameter> parameters = {}) {
  Pass pass;
  pass.info.name = name;
  pass.info.parameters = std::move(parameters);
  pass.run = std::move(run);
  return pass;
}

// Moves the wait to after the product that does not need it.
Result<void> sink(Graph& graph, const Arguments&, PassContext& context) {
  const NodeId wait = graph.find("v");
  graph.move(std::vector{wait}, graph.find("y"));
  context.decide(graph, wait, "moved", "a does not read it.");
  context.add_table({.title = "Waits",
                     .columns = {{"places", PassTable::Unit::count}},
                     .rows = {{"v", {std::int64_t{1}}}}});
  return {};
}

class PipelineRunTest : public testing::Test {
 protected:
  PipelineRun run(const PassRegistry& registry, std::string_view pipeline) {
    auto done = run_pipeline(graph_, *parse_pipeline(pipeline), registry, options_);
    EXPECT_TRUE(done) << done.error().message;
    EXPECT_EQ(graph_hash(graph_), hash_) << "the input graph does not change";
    return done.value_or(PipelineRun());
  }

  const Graph graph_ = parse(kRunGraph);
  const std::string hash_ = graph_hash(graph_);
  PassContext::Options options_;
};

TEST_F(PipelineRunTest, ReportsEachStep) {
  const PassRegistry registry = registry_of({pass_of("sink", sink)});
  const PipelineRun done = run(registry, "sink,~sink,sink");
  ASSERT_FALSE(done.error);
  ASSERT_EQ(done.steps.size(), 2U);
  const StepResult& first = done.steps[0];
  EXPECT_EQ(first.moved, 1U);
  EXPECT_EQ(first.added + first.removed + first.changed + first.merged, 0U);
  EXPECT_LT(first.after.figures.exposed_ns, first.before.figures.exposed_ns);
  ASSERT_EQ(first.tables.size(), 1U);
  EXPECT_EQ(first.tables[0].rows[0].node, "v");
  ASSERT_EQ(first.decisions.size(), 1U);
  const Decision& decision = first.decisions[0];
  EXPECT_EQ(decision, (Decision{"sink", "v", "moved", "a does not read it.", decision.effect}));
  EXPECT_THAT(decision.effect, HasSubstr("1 position later; exposed "));
  EXPECT_EQ(first.edit.by, "sink");
  // The edit has them for as long as it is kept, and names the pass itself.
  EXPECT_EQ(first.edit.decisions, kept_decisions(first.decisions));
  EXPECT_EQ(first.before.communication_ns, first.after.communication_ns);
  EXPECT_GT(first.after.communication_ns, 0);
  // The edit alone leads to the same graph, and the second run changes nothing.
  Graph edited = graph_;
  ASSERT_TRUE(apply(edited, first.edit));
  EXPECT_EQ(graph_hash(edited), graph_hash(*first.graph));
  EXPECT_EQ(done.steps[1].moved, 0U);
  EXPECT_EQ(done.steps[1].before, first.after);
}

// Both large results are live at once if `c` moves before the reader of `a`.
TEST(PipelineRun, WarnsOfAHigherPeakIfThePassIsMeantToLowerIt) {
  const Graph graph = parse(R"(
    x: f32[512,512] = input
    a: f32[2048,512] = aten.cat([x, x, x, x])
    b: f32[] = aten.sum(a)
    c: f32[2048,512] = aten.cat([x, x, x, x])
    d: f32[] = aten.sum(c)
    return [b, d]
  )");
  const auto raise = [](Graph& it, const Arguments&, PassContext&) -> Result<void> {
    it.move(std::vector{it.find("c")}, it.find("b"));
    return {};
  };
  const auto lower = [](Graph& it, const Arguments&, PassContext&) -> Result<void> {
    it.move(std::vector{it.find("b")}, it.find("c"));
    return {};
  };
  std::vector<Pass> passes{pass_of("raise", raise), pass_of("lower", lower),
                           pass_of("other", raise)};
  passes[0].info.saves_memory = passes[1].info.saves_memory = true;
  const PassRegistry registry = registry_of(std::move(passes));
  const auto done = run_pipeline(graph, *parse_pipeline("raise,lower,other"), registry, {});
  ASSERT_TRUE(done);
  ASSERT_FALSE(done->error);
  ASSERT_EQ(done->steps[0].decisions.size(), 1U);
  const Decision& warning = done->steps[0].decisions.front();
  EXPECT_EQ(warning.action, "warning");
  EXPECT_EQ(warning.pass, "raise");
  EXPECT_THAT(warning.reason, HasSubstr("from 5.00 MiB to 9.00 MiB"));
  EXPECT_TRUE(done->steps[1].decisions.empty());
  EXPECT_TRUE(done->steps[2].decisions.empty());
  EXPECT_GT(done->steps[2].after.figures.peak_bytes, done->steps[2].before.figures.peak_bytes);
}

TEST_F(PipelineRunTest, AFailedPassIsNamedAndChangesNothing) {
  const PassRegistry registry =
      registry_of({pass_of("sink", sink),
                   pass_of("throws",
                           [](Graph& graph, const Arguments&, PassContext&) -> Result<void> {
                             graph.erase(graph.find("y"));
                             throw std::runtime_error("no luck");
                           }),
                   pass_of("breaks",
                           [](Graph& graph, const Arguments&, PassContext&) -> Result<void> {
                             graph.move(std::vector{graph.find("y")}, graph.find("g"));
                             return {};
                           }),
                   pass_of("refuses", [](Graph&, const Arguments&, PassContext&) -> Result<void> {
                     return fail(Error::Kind::usage, "there is nothing to do it to");
                   })});
  const auto message = [&](const char* pipeline) {
    const PipelineRun done = run(registry, pipeline);
    EXPECT_TRUE(done.error);
    EXPECT_EQ(done.steps.size(), 1U) << "earlier steps remain applied";
    return done.error ? done.error->message : "";
  };
  EXPECT_EQ(message("sink,throws,sink"), "throws: threw an exception: no luck");
  EXPECT_THAT(message("sink,breaks"), HasSubstr("breaks: produced an invalid graph: "));
  EXPECT_EQ(message("sink,refuses"), "refuses: there is nothing to do it to");
}

TEST_F(PipelineRunTest, CanBeCancelled) {
  const PassRegistry registry = registry_of({pass_of(
      "slow", [](Graph&, const Arguments&, PassContext& context) { return context.report(0.5); })});
  double done = 0;
  options_.report = [&](double at) { done = at; };
  EXPECT_FALSE(run(registry, "slow").error);
  EXPECT_EQ(done, 0.5);
  options_.is_cancelled = [] { return true; };
  const PipelineRun cancelled = run(registry, "slow");
  ASSERT_TRUE(cancelled.error);
  EXPECT_EQ(cancelled.error->kind, Error::Kind::cancelled);
}

TEST_F(PipelineRunTest, IsCheckedBeforeAnyPassRuns) {
  int runs = 0;
  const PassRegistry registry = registry_of(
      {pass_of("sink_waits",
               [&](Graph&, const Arguments&, PassContext&) {
                 ++runs;
                 return Result<void>();
               },
               {{.name = "n", .type = Parameter::Type::integer, .default_value = 1, .doc = ""}})});
  const auto refusal = [&](const char* text) {
    const auto done = run_pipeline(graph_, *parse_pipeline(text), registry, options_);
    return done ? "" : done.error().message;
  };
  EXPECT_EQ(
      refusal("sink_waits,sink_wait"),
      "there is no pass sink_wait; did you mean sink_waits? `jointer passes` lists all passes");
  EXPECT_EQ(refusal("sink_waits{n=a}"), "sink_waits: n: expected an integer, got a");
  EXPECT_EQ(runs, 0);
}

TEST(PipelineRules, MatchUpstream) {
  const auto refusal = [](const char* text) {
    const auto fits = check_order(*parse_pipeline(text));
    return fits ? "" : fits.error().message;
  };
  EXPECT_EQ(refusal("a,cudagraph"), "");
  EXPECT_THAT(refusal("cudagraph,a"), HasSubstr("last"));
  EXPECT_EQ(refusal("cudagraph,~a"), "");
  EXPECT_THAT(refusal("autobucketing_reordering,transformer_block_bucketing"),
              HasSubstr("mutually exclusive"));
  EXPECT_THAT(refusal("full_inductor_compilation"), HasSubstr("needs"));
  EXPECT_THAT(refusal("full_inductor_compilation,inductor_decomposition"), HasSubstr("needs"));
  EXPECT_EQ(refusal("inductor_decomposition,full_inductor_compilation,cudagraph"), "");
}

TEST(PassRegistry, RefusesInvalidDeclarations) {
  const auto nothing = [](Graph&, const Arguments&, PassContext&) { return Result<void>(); };
  PassRegistry registry;
  EXPECT_TRUE(registry.add(pass_of("b", nothing)));
  EXPECT_TRUE(registry.add(pass_of("a", nothing)));
  EXPECT_FALSE(registry.add(pass_of("a", nothing)));
  EXPECT_FALSE(registry.add(pass_of("two words", nothing)));
  EXPECT_FALSE(registry.add(
      pass_of("c", nothing,
              {{.name = "n", .type = Parameter::Type::integer, .default_value = 0.5, .doc = ""}})));
  ASSERT_EQ(registry.passes().size(), 2U);
  EXPECT_EQ(registry.passes()[0].info.name, "a");
  EXPECT_EQ(registry.find("c"), nullptr);
}

TEST_F(PipelineRunTest, AReproducerIsACaptureWithItsPipeline) {
  const TemporaryFolder folder;
  const std::string path = folder / "reproducer.json.zst";
  const PipelineStep step = parse_pipeline("breaks{n=3}")->front();
  ASSERT_TRUE(write_reproducer(path, graph_, step, {Error::Kind::run, "it broke"}));
  const auto graph = open_graph({.path = path});
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph_hash(*graph), hash_);
  EXPECT_THAT(write_native(*graph),
              HasSubstr(R"("reproducer":{"pipeline":"breaks{n=3}","error":"it broke"})"));
  const auto said = reproduced(*graph);
  ASSERT_TRUE(said);
  EXPECT_EQ(said->pipeline, "breaks{n=3}");
  EXPECT_EQ(said->error, "it broke");
  EXPECT_FALSE(reproduced(graph_));
}

TEST_F(PipelineRunTest, AReproducerContainsTheOptions) {
  const TemporaryFolder folder;
  const std::string path = folder / "reproducer.json.zst";
  const RunSettings settings{.peak_limit = 40,
                             .plugins = {"/a/plugin"},
                             .python_passes = {"x=/b/bad.py:f", "module:g"},
                             .options = {"--device", "h100"}};
  ASSERT_TRUE(
      write_reproducer(path, graph_, {.pass = "breaks"}, {Error::Kind::run, "it broke"}, settings));
  const auto graph = open_graph({.path = path});
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(reproduced(*graph)->settings, settings);
}

TEST_F(PipelineRunTest, AReproducerChoosesAnUnusedName) {
  const TemporaryFolder folder;
  const std::string first = unused_reproducer_path(folder / "", "breaks");
  EXPECT_THAT(first, HasSubstr("jointer-reproducer.breaks.json.zst"));
  std::ofstream(first) << "x";
  EXPECT_NE(unused_reproducer_path(folder / "", "breaks"), first);
}

TEST_F(PipelineRunTest, ASingleStepRunsAsInAPipeline) {
  const auto figures = step_figures(graph_, options_.analysis);
  ASSERT_TRUE(figures);
  // The rules for the order of steps apply to whole pipelines.
  const PipelineStep wrong = parse_pipeline("no_such_pass")->front();
  const PassRegistry registry =
      registry_of({pass_of("full_inductor_compilation", sink), pass_of("sink", sink)});
  const auto none = run_step(graph_, wrong, registry, options_);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, Error::Kind::usage);
  const PipelineStep alone = parse_pipeline("full_inductor_compilation")->front();
  EXPECT_FALSE(run_pipeline(graph_, {alone}, registry, options_));
  const auto result = run_step(graph_, alone, registry, options_);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->before, *figures);
  EXPECT_EQ(graph_hash(graph_), hash_);
}

TEST(PipelineRun, CountsCollectivesWithoutCopies) {
  const Graph graph = parse(R"(
    group fsdp: 0 1
    w: f32[512,512] = parameter
    x: f32[512,512] = input
    g: f32[1024,512] = _c10d_functional.all_gather_into_tensor(w, 2, 'fsdp')
    v: f32[1024,512] = _c10d_functional.wait_tensor(g)
    device cpu
    off: f32[512,512] = ao.offload(x)
    host: f32[512,512] = ao.wait_tensor(off, x)
    return [v, host]
  )");
  const auto figures = step_figures(graph, AnalysisOptions());
  ASSERT_TRUE(figures) << figures.error().message;
  EXPECT_EQ(figures->collectives, 1U);
  EXPECT_LE(figures->hidden, figures->collectives);
}

TEST(PipelineRules, NameTheMisplacedStep) {
  const auto wrong = [](std::string_view text) {
    const auto mistakes = find_order_mistakes(*parse_pipeline(text));
    return mistakes.empty() ? -1 : static_cast<int>(mistakes.front().step);
  };
  EXPECT_EQ(wrong("a,cudagraph"), -1);
  EXPECT_EQ(wrong("a,cudagraph,~b"), -1) << "disabled steps do not count";
  EXPECT_EQ(wrong("~x,cudagraph,b"), 1);
  EXPECT_EQ(wrong("transformer_block_bucketing,a,autobucketing_reordering"), 2);
  EXPECT_EQ(wrong("a,full_inductor_compilation,inductor_decomposition"), 1);
  EXPECT_EQ(wrong("inductor_decomposition,full_inductor_compilation"), -1);
  EXPECT_EQ(find_order_mistakes(*parse_pipeline("transformer_block_bucketing,cudagraph,"
                                                "autobucketing_reordering,"
                                                "full_inductor_compilation"))
                .size(),
            3U);
}

}  // namespace
}  // namespace jointer::test
