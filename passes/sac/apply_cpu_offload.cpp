// The pass apply_cpu_offload: core/policy/cpu_offload.cpp describes what it does, its source and
// deviations.

#include "passes/sac/apply_cpu_offload.h"

#include "core/policy/cpu_offload.h"
#include "passes/edit_pass.h"
#include "passes/kept.h"
#include "passes/parameters.h"

namespace jointer {
namespace {

Result<void> run(Graph& graph, const Arguments& arguments, PassContext& context) {
  const CpuOffloadOptions options{.defer_layers = arguments.integer("defer_layers"),
                                  .prefetch_layers = arguments.integer("prefetch_layers")};
  return apply_changes(graph, apply_cpu_offload(graph, options), context,
                       {.inserted = "a tagged result goes to the host, and comes back in time",
                        .moved = "it waits for what comes back",
                        .replaced = "it reads what came back from the host",
                        .removed = "nothing reads it any more"});
}

}  // namespace

Pass apply_cpu_offload_pass() {
  return {.info = {.name = "apply_cpu_offload",
                   .summary = "Keeps tagged results on the host between the forward and the "
                              "backward of a flat training step.",
                   .source = "torchtitan/experiments/graph_trainer/cpu_offload.py",
                   .stage = PassStage::joint,
                   .parameters = {count("defer_layers", 1, 0,
                                        "Layers of the forward between a result's last use and the "
                                        "end of its copy to the host."),
                                  count("prefetch_layers", 1, 0,
                                        "Layers of the backward between the start of a copy back "
                                        "and its first use.")},
                   .keeps_numerics = true,
                   .is_idempotent = true,
                   .saves_memory = true},
          .run = or_kept("No result is tagged to go to the host.", run)};
}

}  // namespace jointer
