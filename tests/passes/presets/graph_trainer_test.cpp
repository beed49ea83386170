#include "passes/presets/graph_trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jointer::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<std::string> step_names(const Pipeline& pipeline) {
  std::vector<std::string> found;
  for (const PipelineStep& step : pipeline) found.push_back(step.pass);
  return found;
}

Pipeline pipeline(std::string_view flags) {
  const auto parsed = parse_graph_trainer_flags(flags);
  EXPECT_TRUE(parsed) << parsed.error().message;
  const auto made = graph_trainer_pipeline(*parsed);
  EXPECT_TRUE(made) << made.error().message;
  return *made;
}

TEST(GraphTrainerFlags, Default) {
  EXPECT_THAT(step_names(pipeline("")),
              testing::ElementsAre("eliminate_dead_code", "canonicalize_graph",
                                   "deduplicate_fsdp_unshard_chains", "tag_with_memory_policy",
                                   "apply_cpu_offload", "selective_activation_remat",
                                   "joint_transformer_block_bucketing_reordering",
                                   "annotate_flex_attention_for_regional_inductor",
                                   "regional_inductor", "insert_kernel_annotations", "cudagraph"));
}

TEST(GraphTrainerFlags, RoundTrip) {
  for (const std::string_view text :
       {"", "--compile.memory_policy full",
        "--compile.memory_policy sac_and_offload --compile.cpu_offload_prefetch_n_layers 2 "
        "--compile.cpu_offload_budget_gb 12.5",
        "--compile.enable_fsdp_ag_rs_overlap --compile.enable_async_tensor_parallel",
        "--compile.enable_fsdp_dense_region_overlap --compile.disable_passes cudagraph_pass",
        "--compile.inductor_compilation full",
        "--compile.ep_overlap.chunk_dim seq --compile.ep_overlap.module_fqn 'layers.*.moe' "
        "--compile.enable_fsdp_dense_region_overlap --compile.ep_overlap.enabled",
        "--compile.ep_overlap.strategy eager --compile.ep_overlap.enabled",
        "--compile.ep_overlap.enabled --compile.ep_overlap.disable_early_grad_accumulation",
        "--compile.disable_passes apply_cpu_offload_pass,tag_with_memory_policy_pass",
        "--compile.numerics_changing_optim", "--compile.enable_passes False"}) {
    SCOPED_TRACE(text);
    const auto flags = parse_graph_trainer_flags(text);
    ASSERT_TRUE(flags) << flags.error().message;
    const auto again = parse_graph_trainer_flags(to_text(*flags));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, *flags) << to_text(*flags);
    const auto back = graph_trainer_flags(pipeline(text));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, *flags) << to_text(*back);
  }
}

TEST(GraphTrainerFlags, HaveSeveralSpellings) {
  const auto plain = parse_graph_trainer_flags("--compile.enable_fsdp_ag_rs_overlap");
  for (const std::string_view text :
       {"--compile.enable-fsdp-ag-rs-overlap", "--compile.enable_fsdp_ag_rs_overlap=True",
        "--compile.no_enable_fsdp_ag_rs_overlap "
        "--compile.enable_fsdp_ag_rs_overlap"}) {
    const auto flags = parse_graph_trainer_flags(text);
    ASSERT_TRUE(flags) << flags.error().message;
    EXPECT_EQ(*flags, *plain) << text;
  }
}

TEST(GraphTrainerFlags, MistakesAreNamed) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases{
      {"--compile.memory_polcy full", "did you mean --compile.memory_policy?"},
      {"--compile.memory_policy most", "default, full, eager, sac_and_offload, got `most`"},
      {"--compile.memory_policy", "expected a value"},
      {"--training.steps 3", "begin with --compile."},
      {"--compile.mode jit", "not a graph_trainer flag that selects passes"},
      {"--compile.disable_passes cudgraph_pass", "did you mean cudagraph_pass?"},
      {"--compile.disable_passes cudagraph", "did you mean cudagraph_pass?"},
      {"--compile.enable_fsdp_ag_rs_overlap=2", "True or False"},
      {"--compile.cpu_offload_budget_gb 3", "memory_policy sac_and_offload"},
      {"--compile.ep_overlap.enabled --compile.ep_overlap.chunk_dim seq", "layers.*.moe"},
  };
  for (const auto& [text, cause] : cases) {
    const auto flags = parse_graph_trainer_flags(text);
    ASSERT_FALSE(flags) << text;
    EXPECT_EQ(flags.error().kind, Error::Kind::usage);
    EXPECT_THAT(flags.error().message, HasSubstr(cause)) << text;
  }
}

TEST(GraphTrainerFlags, StepsThatFlagsCannotExpressAreNamed) {
  const auto other =
      graph_trainer_flags(*parse_pipeline("canonicalize_graph,sink_waits_iterative"));
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("`sink_waits_iterative` as step 2"));
  const auto order =
      graph_trainer_flags(*parse_pipeline("selective_activation_remat,tag_with_memory_policy"));
  EXPECT_FALSE(order);
  const auto reported =
      graph_trainer_flags(*parse_pipeline("tag_with_memory_policy{reshard=false}"));
  EXPECT_FALSE(reported);
}

TEST(GraphTrainerFlags, ARecipeFileNamesTheCompiler) {
  const std::string file = graph_trainer_recipe_file(
      *parse_pipeline("canonicalize_graph,regional_inductor"), "/a \"b\".json");
  EXPECT_THAT(file, HasSubstr("@register_pass_pipeline(\"jointer\")"));
  EXPECT_THAT(file, HasSubstr(R"(RECIPE = "/a \"b\".json")"));
  EXPECT_THAT(file,
              HasSubstr("--compile.pass_pipeline jointer --compile.disable_passes cudagraph_pass"));
  EXPECT_THAT(file, Not(HasSubstr("Path")));
}

TEST(GraphTrainerFlags, ARelativeRecipeIsFoundNextToTheFile) {
  const std::string file =
      graph_trainer_recipe_file(*parse_pipeline("canonicalize_graph"), "recipes/a.json");
  EXPECT_THAT(file, HasSubstr("\n\nfrom pathlib import Path\n\nimport jointer\n"));
  EXPECT_THAT(file, HasSubstr("RECIPE = Path(__file__).parent / \"recipes/a.json\"\n"));
}

}  // namespace
}  // namespace jointer::test
