// The presets: pipelines of torchtitan's compiler toolkit, one per configuration in its README, and
// pipelines of graph_trainer, which replaced the toolkit.
//
// The toolkit's joint passes begin with validate_flex_attn_annotation and end with
// fsdp_reshard_after_fwd; then torch's min-cut partitioner splits the joint graph into a pair, and
// the toolkit's compiler passes run on both halves. As in the toolkit's graph_utils.py,
// reassign_to_pg runs directly before transformer_block_bucketing. Configurations without
// bucketing and Inductor have no compiler passes. Full Inductor compilation decomposes operators
// first (inductor_decomposition). FlexAttention changes the graph but not the pipeline;
// validate_flex_attn_annotation checks nothing in a graph without it.
//
// The pipelines of graph_trainer are those that its flags select (graph_trainer.h).

#include "passes/presets/presets.h"

#include "core/base/nearest_name.h"
#include "passes/presets/graph_trainer.h"

namespace jointer {
namespace {

constexpr const char* kSource = "torchtitan/experiments/compiler_toolkit/README.md";
constexpr const char* kJoint =
    "validate_flex_attn_annotation,fsdp_reshard_after_fwd,min_cut_partition";

PipelinePreset preset(std::string name, std::string summary, std::string_view compiler_passes) {
  std::string pipeline = kJoint;
  if (!compiler_passes.empty()) pipeline += fmt::format(",{}", compiler_passes);
  return {std::move(name), std::move(summary), kSource, std::move(pipeline)};
}

// A preset with the pipeline that graph_trainer runs with these flags.
PipelinePreset trainer(std::string name, std::string summary, std::string_view flags) {
  const auto parsed = parse_graph_trainer_flags(flags);
  const auto pipeline = parsed ? graph_trainer_pipeline(*parsed) : tl::unexpected(parsed.error());
  return {.name = std::move(name),
          .summary = std::move(summary),
          .source = fmt::format("torchtitan/experiments/graph_trainer {}", flags),
          .pipeline = pipeline ? to_text(*pipeline) : std::string()};
}

std::vector<PipelinePreset> make_presets() {
  constexpr std::string_view kBlocks = "reassign_to_pg,transformer_block_bucketing";
  PipelinePreset full =
      preset("fsdp_tp_full_inductor", "SimpleFSDP + TP + full Inductor compilation.",
             "full_inductor_compilation");
  full.pipeline = "inductor_decomposition," + full.pipeline;
  return {
      preset("deepseek_v3", "DeepSeek-V3: SimpleFSDP + TP + EP.", {}),
      preset("deepseek_v3_flex", "DeepSeek-V3: SimpleFSDP + TP + EP + FlexAttention.", {}),
      preset("fsdp_tp", "SimpleFSDP + TP.", {}),
      preset("fsdp_tp_auto_bucketing", "SimpleFSDP + TP + auto-bucketing.",
             "autobucketing_reordering"),
      preset("fsdp_tp_block_bucketing", "SimpleFSDP + TP + transformer-block bucketing.", kBlocks),
      preset("fsdp_tp_flex", "SimpleFSDP + TP + FlexAttention.", {}),
      preset("fsdp_tp_flex_auto_bucketing_regional",
             "SimpleFSDP + TP + FlexAttention + auto-bucketing + regional Inductor.",
             "autobucketing_reordering,regional_inductor"),
      preset("fsdp_tp_flex_block_bucketing_regional",
             "SimpleFSDP + TP + FlexAttention + transformer-block bucketing + regional Inductor.",
             fmt::format("{},regional_inductor", kBlocks)),
      preset("fsdp_tp_flex_block_bucketing_regional_cudagraph",
             "SimpleFSDP + TP + FlexAttention + transformer-block bucketing + regional Inductor + "
             "cudagraph.",
             fmt::format("{},regional_inductor,cudagraph", kBlocks)),
      std::move(full),
      trainer("graph_trainer", "graph_trainer with default flags.", ""),
      trainer("graph_trainer_full", "graph_trainer with every layer recomputed from its input.",
              "--compile.memory_policy full"),
      trainer("graph_trainer_eager",
              "graph_trainer with the selective activation checkpointing of eager mode.",
              "--compile.memory_policy eager"),
      trainer("graph_trainer_sac_and_offload",
              "graph_trainer with saved values offloaded to the host.",
              "--compile.memory_policy sac_and_offload"),
      trainer("graph_trainer_ag_rs_overlap",
              "graph_trainer with all-gathers overlapped with reduce-scatters.",
              "--compile.enable_fsdp_ag_rs_overlap"),
      trainer("graph_trainer_dense_regions",
              "graph_trainer with FSDP's collectives overlapped with dense compute.",
              "--compile.enable_fsdp_dense_region_overlap"),
      trainer("graph_trainer_async_tp", "graph_trainer with TP's collectives fused with matmuls.",
              "--compile.enable_async_tensor_parallel"),
      trainer("graph_trainer_ep_overlap",
              "graph_trainer with each chunk's token exchange overlapped with the other chunk's "
              "experts.",
              "--compile.ep_overlap.enabled --compile.ep_overlap.module_fqn 'layers.*.moe'"),
      trainer("graph_trainer_full_inductor", "graph_trainer with full Inductor compilation.",
              "--compile.inductor_compilation full"),
  };
}

}  // namespace

const std::vector<PipelinePreset>& pipeline_presets() {
  static const std::vector<PipelinePreset> kPresets = make_presets();
  return kPresets;
}

Result<Pipeline> preset_pipeline(std::string_view name) {
  std::vector<std::string_view> names;
  for (const PipelinePreset& preset : pipeline_presets()) {
    if (preset.name == name) return parse_pipeline(preset.pipeline);
    names.push_back(preset.name);
  }
  return fail(Error::Kind::usage, "there is no preset {}{} `jointer passes` lists all presets",
              name, nearest_name_question(name, names));
}

}  // namespace jointer
