#pragma once

// The pipelines of torchtitan's graph_trainer, and the flags of its command line that choose them.
// Source: torchtitan 0.3.0, experiments/graph_trainer: passes.py (construct_default_graph_passes),
// configs.py (GraphTrainerCompileConfig).

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/pass/pipeline_text.h"

namespace jointer {

// What of `--compile.*` decides which passes run; defaults are upstream's.
struct GraphTrainerFlags {
  std::string memory_policy = "default";
  std::int64_t prefetch_layers = 1, defer_layers = 1;  // of cpu_offload
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
  std::vector<std::string> disabled = {};  // ours: without upstream's `_pass`
  friend bool operator==(const GraphTrainerFlags&, const GraphTrainerFlags&) = default;
};

// From a command line: `--compile.memory_policy eager --compile.enable_fsdp_ag_rs_overlap`; `=` may
// stand for a blank. Error (usage): a flag that chooses no passes, or a value that it does not
// take.
Result<GraphTrainerFlags> parse_graph_trainer_flags(std::string_view text);

// Back, those that differ from upstream's defaults.
std::string to_text(const GraphTrainerFlags& flags);

// The passes that graph_trainer runs on a traced step with these flags, in its order, under our
// names. Error (usage): upstream refuses them together.
Result<Pipeline> graph_trainer_pipeline(const GraphTrainerFlags& flags);

// The flags that choose this pipeline. Error (usage): none do; the message says which step is the
// first that they cannot.
Result<GraphTrainerFlags> graph_trainer_flags(const Pipeline& pipeline);

// A Python file that registers a pipeline of graph_trainer: it replays the recipe at `recipe`,
// which `pipeline` made on the traced step, then compiles as `pipeline` does. It says with which
// flags training chooses it.
std::string graph_trainer_recipe_file(const Pipeline& pipeline, std::string_view recipe);

}  // namespace jointer
