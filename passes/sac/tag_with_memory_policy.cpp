// The tag_with_memory_policy pass. core/policy/memory_policies.cpp describes the algorithm, its
// source and the deviations.

#include "core/policy/tagging.h"
#include "passes/sac/sac.h"
#include "passes/support/edit_pass.h"
#include "passes/support/kept.h"
#include "passes/support/parameters.h"

namespace jointer {
namespace {

Result<void> run_tag_with_memory_policy(Graph& graph, const Arguments& arguments,
                                        PassContext& context) {
  const std::string& preset = arguments.text("policy");
  const auto edit =
      tag_with_memory_policy(graph, preset, arguments.texts("save_ops"),
                             arguments.integer("offload_bytes"), arguments.boolean("reshard"));
  return apply_tags(graph, edit, context, [&](NodeId id) {
    return fmt::format("the policy {} for {}", preset, graph.target(graph.node(id)));
  });
}

}  // namespace

Pass tag_with_memory_policy_pass() {
  std::vector<std::string> names;
  for (const MemoryPolicyPreset& preset : memory_policy_presets()) names.push_back(preset.name);
  return {
      .info = {.name = "tag_with_memory_policy",
               .summary = "Tags the forward according to one of torchtitan's memory policies.",
               .source = "torchtitan/experiments/graph_trainer/memory_policy.py",
               .stage = PassStage::joint,
               .parameters = {choice("policy", std::move(names), "default",
                                     "The value of torchtitan's --compile.memory_policy."),
                              texts("save_ops",
                                    "For full: results to save anyway, as FQN_PATTERN::operator."),
                              bytes("offload_bytes", kOffloadBytes,
                                    "For sac_and_offload: maximum bytes to offload; 0: no "
                                    "limit."),
                              flag("reshard", true,
                                   "Gather FSDP parameters again in the backward.")},
               .is_idempotent = true},
      .run = with_kept_decision("Every call of the forward already has its tag.",
                                run_tag_with_memory_policy)};
}

}  // namespace jointer
