// The apply_cpu_offload pass. core/policy/cpu_offload.cpp describes the algorithm, its source and
// the deviations.

#include "core/base/counted.h"
#include "core/policy/cpu_offload.h"
#include "passes/sac/sac.h"
#include "passes/support/edit_pass.h"
#include "passes/support/parameters.h"

namespace jointer {
namespace {

// The reason why the pass does not change the graph.
std::string why_kept(const Graph& graph) {
  std::size_t tagged = 0;
  for (const NodeId id : graph.order()) tagged += is_tagged_for_offload(graph.node(id)) ? 1 : 0;
  if (tagged == 0)
    return "No result is tagged for offload; to tag results, run "
           "tag_with_memory_policy{policy=sac_and_offload}.";
  if (tagged == 1)
    return "1 result is tagged for offload, but it cannot be offloaded, the backward does not read "
           "it, or the backward already reads the reloaded copy.";
  return fmt::format(
      "{} tagged for offload, but each is impossible to offload, not read by the backward, or "
      "already read as a reloaded copy.",
      counted(tagged, "result is", "results are"));
}

Result<void> run_apply_cpu_offload(Graph& graph, const Arguments& arguments, PassContext& context) {
  const CpuOffloadOptions options{.defer_layers = arguments.integer("defer_layers"),
                                  .prefetch_layers = arguments.integer("prefetch_layers")};
  const Result<Edit> edit = apply_cpu_offload(graph, options);
  if (edit && edit->changes.empty()) {
    // If the edit has notes, they say why tagged results stay on the device.
    if (edit->notes.empty()) context.decide("kept", why_kept(graph));
    for (const std::string& note : edit->notes) context.decide("kept", note);
    return {};
  }
  return apply_changes(graph, edit, context,
                       {.inserted = "it is part of offloading or reloading a tagged result",
                        .moved = "it waits for a reload",
                        .replaced = "it reads the reloaded copy",
                        .removed = "it has no readers left"});
}

}  // namespace

Pass apply_cpu_offload_pass() {
  return {
      .info =
          {.name = "apply_cpu_offload",
           .summary = "Offloads tagged results to the host between the forward and the backward of "
                      "a flat training step.",
           .source = "torchtitan/experiments/graph_trainer/cpu_offload.py",
           .stage = PassStage::joint,
           .parameters =
               {count(
                    "defer_layers", 1, 0,
                    "Number of forward layers between a result's own layer and the wait for its "
                    "copy to the host; the wait also follows the layer of the result's last use."),
                count("prefetch_layers", 1, 0,
                      "Number of layers that the backward visits between the start of a reload and "
                      "the result's layer.")},
           .is_idempotent = true,
           .saves_memory = true},
      .run = run_apply_cpu_offload};
}

}  // namespace jointer
