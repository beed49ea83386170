#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/inductor_mark.h"
#include "tests/passes/run_pass.h"
#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

using ::testing::HasSubstr;

std::string custom(const Graph& graph, std::string_view name) {
  return std::string(graph.text(node(graph, name).custom));
}

constexpr std::string_view kNorm = R"(
  x: bf16[4,8] = input
  w: bf16[8] = parameter
  n: (bf16[4,8], f32[4,1]) = aten._fused_rms_norm(x, [8], w, 1e-05)
  y: bf16[4,8] = n[0]
  z: bf16[4,8] = aten.relu(y)
  return [z]
)";

TEST(AnnotateRmsNorm, MarksTheNormAndTheReadersOfItsResults) {
  const StepResult step = run_pass(parse(kNorm), "annotate_rmsnorm_for_regional_inductor");
  const Graph& graph = *step.graph;
  EXPECT_EQ(custom(graph, "n"), R"({"compile_with_inductor":{}})");
  EXPECT_TRUE(is_annotated_for_inductor(graph, node(graph, "y")));
  EXPECT_FALSE(is_annotated_for_inductor(graph, node(graph, "z")));
  EXPECT_THAT(reason_of(step, "y", "marked"), HasSubstr("RMSNorm"));
}

TEST(AnnotateRmsNorm, AcceptsInductorOptions) {
  const StepResult step =
      run_pass(parse(kNorm), R"(annotate_rmsnorm_for_regional_inductor{rmsnorm_compile_config=)"
                             R"("{\"max_autotune\":true}"})");
  EXPECT_EQ(custom(*step.graph, "n"),
            R"({"compile_with_inductor":{"inductor_configs":{"max_autotune":true}}})");
  const auto run = run_pipeline(
      parse(kNorm),
      parse_pipeline("annotate_rmsnorm_for_regional_inductor{rmsnorm_compile_config=nonsense}")
          .value(),
      built_in_passes(), simple_costs());
  ASSERT_TRUE(run && run->error);
  EXPECT_THAT(run->error->message, HasSubstr("rmsnorm_compile_config"));
}

TEST(AnnotateFlexAttention, ReportsThatThereIsNone) {
  const StepResult step = run_pass(parse(kNorm), "annotate_flex_attention_for_regional_inductor");
  EXPECT_THAT(reason_of(step, "", "kept"), HasSubstr("flex_attention"));
}

TEST(KernelAnnotations, AreEmptyWithoutModules) {
  const StepResult step = run_pass(parse(kNorm), "insert_kernel_annotations");
  EXPECT_THAT(reason_of(step, "", "kept"), HasSubstr("modules"));
}

}  // namespace
}  // namespace jointer::test
