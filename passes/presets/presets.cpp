// What torchtitan's compiler toolkit runs in each configuration of its README. Its joint passes
// begin with validate_flex_attn_annotation and end with fsdp_reshard_after_fwd; torch's minimum cut
// makes the pair; its compiler passes run on both halves. transformer_block_bucketing is preceded
// by reassign_to_pg, which its graph_utils.py inserts. The two configurations of DeepSeek-V3 give
// no compiler passes; that attention is flex_attention changes the graph, not the pipeline, except
// that only then there is something for validate_flex_attn_annotation to look at.

#include "passes/presets/presets.h"

#include <algorithm>

#include "core/pass/nearest_name.h"

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
  return fail(Error::Kind::usage, "there is no preset {}{} `jointer passes` lists all", name,
              nearest_name_question(name, names));
}

}  // namespace jointer
