#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "passes/compile/pipeline_backend.h"
#include "tests/support/graphs.h"
#include "tests/support/names.h"
#include "tests/support/run_pass.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;

Graph some_graph() {
  return parse(R"(
    x: f32[8,8] = input
    a: f32[8,8] = aten.mm(x, x)  {layers.0}
    b: f32[8,8] = aten.relu(a)   {layers.0}
    return [b]
  )");
}

Result<std::optional<PipelineBackend>> backend(std::string_view pipeline) {
  return backend_of(*parse_pipeline(pipeline));
}

TEST(PipelineBackend, IsThatOfTheCompilePass) {
  EXPECT_FALSE(backend("eliminate_dead_code")->has_value());
  EXPECT_EQ((*backend("a,cudagraph"))->backend, Backend::interpret);
  EXPECT_TRUE((*backend("a,cudagraph"))->is_recorded);
  EXPECT_EQ((*backend("inductor_decomposition,full_inductor_compilation"))->backend,
            Backend::inductor);
  EXPECT_EQ((*backend("regional_inductor,~cudagraph"))->backend, Backend::regional);
  EXPECT_FALSE((*backend("regional_inductor,~cudagraph"))->is_recorded);
  EXPECT_EQ((*backend("regional_inductor,cudagraph"))->backend, Backend::regional);
  EXPECT_TRUE((*backend("regional_inductor,cudagraph"))->is_recorded);
  EXPECT_EQ((*backend(R"(regional_inductor{mark=[a,"layers.0::aten.mm"]})"))->marked,
            "a;layers.0::aten.mm");
  EXPECT_EQ((*backend("regional_inductor{mark=[a]},regional_inductor{mark=[b]}"))->marked, "a;b");
}

TEST(PipelineBackend, IsUnique) {
  const auto two = backend("regional_inductor,full_inductor_compilation");
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().kind, Error::Kind::usage);
  EXPECT_THAT(two.error().message, HasSubstr("--backend regional or --backend inductor"));
}

TEST(RegionalInductor, ReportsWhatItWouldCompile) {
  const StepResult none = run_pipeline_text(some_graph(), "regional_inductor").at(0);
  EXPECT_THAT(none.decisions.at(0).reason, HasSubstr("nothing to compile"));
  const StepResult one = run_pipeline_text(some_graph(), "regional_inductor{mark=[a]}").at(0);
  EXPECT_EQ(one.decisions.at(0).node, "a");
  EXPECT_EQ(one.changed + one.added + one.removed, 0U);
  const auto refused = run_pipeline(
      some_graph(), *parse_pipeline("regional_inductor{mark=[no_such]}"), built_in_passes(), {});
  ASSERT_TRUE(refused && refused->error);
  EXPECT_THAT(refused->error->message, HasSubstr("no_such"));
}

TEST(CompileStages, FollowUpstreamsOrder) {
  for (const auto& [pipeline, word] :
       {std::pair("cudagraph,eliminate_dead_code", "cudagraph must be the last"),
        std::pair("full_inductor_compilation", "needs inductor_decomposition")}) {
    const auto refused =
        run_pipeline(some_graph(), *parse_pipeline(pipeline), built_in_passes(), {});
    ASSERT_FALSE(refused) << pipeline;
    EXPECT_EQ(refused.error().kind, Error::Kind::usage);
    EXPECT_THAT(refused.error().message, HasSubstr(word));
  }
}

TEST(InductorDecomposition, RunsInPython) {
  const Pipeline pipeline = *parse_pipeline("inductor_decomposition");
  const auto without = run_pipeline(some_graph(), pipeline, built_in_passes(), {});
  ASSERT_TRUE(without && without->error);
  EXPECT_EQ(without->error->kind, Error::Kind::run);
  EXPECT_THAT(without->error->message, HasSubstr("no Python"));

  PassContext::Options options;
  std::string called;
  options.python = [&](const Graph&, const PythonCall& call) -> Result<Graph> {
    called = call.function;
    return parse("x: f32[8,8] = input\nb: f32[8,8] = aten.relu(x)\nreturn [b]");
  };
  const auto with = run_pipeline(some_graph(), pipeline, built_in_passes(), options);
  ASSERT_TRUE(with && !with->error);
  EXPECT_EQ(called, "jointer.decomposition:inductor_decomposition");
  EXPECT_THAT(calls_of(*with->steps.at(0).graph), testing::ElementsAre("b"));
}

}  // namespace
}  // namespace jointer::test
