#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/graphs.h"
#include "tests/support/run_pass.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;

Graph with_custom(std::string_view custom) {
  Graph graph = parse(R"(
    q: f32[1,2,8,4] = input
    o: f32[1,2,8,4] = flex_attention(q, q, q)
    return [o]
  )");
  if (!custom.empty()) graph.node(graph.find("o")).custom = graph.intern(custom);
  return graph;
}

PipelineRun check(const Graph& graph) {
  return *run_pipeline(graph, *parse_pipeline("validate_flex_attn_annotation"), built_in_passes(),
                       {});
}

TEST(ValidateFlexAttnAnnotation, AcceptsAnnotatedCalls) {
  const PipelineRun run =
      check(with_custom(R"({"compile_with_inductor":{"inductor_configs":{}}})"));
  ASSERT_FALSE(run.error);
  EXPECT_EQ(run.steps.at(0).decisions.size(), 1U);
  EXPECT_EQ(run.steps.at(0).changed, 0U);
}

TEST(ValidateFlexAttnAnnotation, RefusesOtherCalls) {
  for (const char* custom : {"", R"({"ac_region":1})", "[]"}) {
    const PipelineRun run = check(with_custom(custom));
    ASSERT_TRUE(run.error) << custom;
    EXPECT_EQ(run.error->kind, Error::Kind::usage);
    EXPECT_THAT(run.error->message, HasSubstr("o (flex_attention) is not annotated"));
  }
}

TEST(ValidateFlexAttnAnnotation, AcceptsGraphsWithoutFlexAttention) {
  EXPECT_FALSE(check(parse("x: f32[2] = input\nreturn [x]")).error);
}

}  // namespace
}  // namespace jointer::test
