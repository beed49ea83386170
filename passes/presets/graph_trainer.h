#pragma once

// The pipelines of torchtitan's graph_trainer, and the command-line flags that select them. Source:
// torchtitan 0.3.0, experiments/graph_trainer: passes.py (construct_default_graph_passes),
// configs.py (GraphTrainerCompileConfig).

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/pass/pipeline_text.h"

namespace jointer {

// The `--compile.*` flags that select passes, with upstream's defaults.
struct GraphTrainerFlags {
  std::string memory_policy = "default";
  std::int64_t prefetch_layers = 1, defer_layers = 1;  // numbers of layers, for cpu_offload
  double offload_budget_gb = 100;
  bool fsdp_ag_rs_overlap = false;
  bool dense_region_overlap = false;
  bool async_tensor_parallel = false;
  bool ep_overlap = false;
  std::string chunk_dim = "batch", strategy = "graph", module_fqn = "layers.*";
  bool early_grad_accumulation = true;
  std::string inductor = "regional";
  bool numerics_changing = false;
  bool runs_passes = true;
  std::vector<std::string> disabled = {};  // Jointer's names, without upstream's suffix `_pass`
  friend bool operator==(const GraphTrainerFlags&, const GraphTrainerFlags&) = default;
};

// Parses flags such as `--compile.memory_policy eager --compile.enable_fsdp_ag_rs_overlap`. A value
// may follow a space or `=`. Error (usage): a flag does not select passes, a value is invalid, or
// upstream refuses the combination.
Result<GraphTrainerFlags> parse_graph_trainer_flags(std::string_view text);

// The flags that differ from upstream's defaults, as command-line text.
std::string to_text(const GraphTrainerFlags& flags);

// The passes that graph_trainer runs on a flat training step with these flags, in graph_trainer's
// order, under Jointer's names. Error (usage): upstream refuses the combination.
Result<Pipeline> graph_trainer_pipeline(const GraphTrainerFlags& flags);

// The flags that select this pipeline. Pipeline steps that are not enabled do not count.
// Error (usage): no flags select it; the message names the first pipeline step that does not match
// or the first pass that the closest flags also run.
Result<GraphTrainerFlags> graph_trainer_flags(const Pipeline& pipeline);

// A Python file that registers a pipeline in graph_trainer. The registered pipeline replays the
// recipe at `recipe`, which is the result of `pipeline` on the flat training step, and then
// compiles as `pipeline` does. A relative path is relative to the folder of the Python file, so
// that both files can be moved together. A comment in the Python file lists the flags that select
// the pipeline in training.
std::string graph_trainer_recipe_file(const Pipeline& pipeline, std::string_view recipe);

}  // namespace jointer
