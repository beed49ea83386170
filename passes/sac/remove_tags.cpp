// remove_tags: removes the tags of all calls, that is, their memory policies and checkpointed
// regions. Upstream has no such pass.

#include "core/policy/tagging.h"
#include "passes/sac/sac.h"
#include "passes/support/edit_pass.h"
#include "passes/support/kept.h"

namespace jointer {
namespace {

Result<void> run_remove_tags(Graph& graph, const Arguments&, PassContext& context) {
  return apply_tags(graph, remove_tags(graph), context,
                    [](NodeId) { return std::string("all tags are removed"); });
}

}  // namespace

Pass remove_tags_pass() {
  return {
      .info = {.name = "remove_tags",
               .summary = "Removes the memory policies and the checkpointed regions of all calls.",
               .source = "Jointer",
               .stage = PassStage::joint,
               .is_idempotent = true},
      .run = with_kept_decision("No call is tagged.", run_remove_tags)};
}

}  // namespace jointer
