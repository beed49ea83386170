// The selective_activation_remat pass. core/policy/remat.cpp describes the algorithm, its source
// and the deviations.

#include "core/policy/remat.h"
#include "passes/sac/sac.h"
#include "passes/support/edit_pass.h"

namespace jointer {
namespace {

Result<void> run_selective_activation_remat(Graph& graph, const Arguments&, PassContext& context) {
  const Result<Edit> edit = selective_activation_remat(graph);
  if (edit && edit->changes.empty()) {
    for (const std::string& note : edit->notes) context.decide("kept", note);
    return {};
  }
  return apply_changes(
      graph, edit, context,
      {.inserted = "the backward depends on the value, which is tagged for recomputation",
       .moved = "it moves next to the call that returns its value, or next to its reader",
       .replaced = "it reads the recomputed value",
       .removed = "only the backward read it, and it now reads the recomputed value"});
}

}  // namespace

Pass selective_activation_remat_pass() {
  return {
      .info = {.name = "selective_activation_remat",
               .summary = "Recomputes tagged activations in the backward of a flat training step.",
               .source = "torchtitan/experiments/graph_trainer/selective_activation_remat.py",
               .stage = PassStage::joint,
               .is_idempotent = true,
               .saves_memory = true},
      .run = run_selective_activation_remat};
}

}  // namespace jointer
