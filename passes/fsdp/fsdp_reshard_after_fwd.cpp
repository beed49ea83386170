// The fsdp_reshard_after_fwd pass. core/policy/fsdp_tags.cpp describes the algorithm, its source
// and its deviations.

#include "core/base/counted.h"
#include "core/policy/fsdp_gathers.h"
#include "core/policy/tagging.h"
#include "passes/fsdp/fsdp.h"
#include "passes/support/edit_pass.h"
#include "passes/support/parameters.h"

namespace jointer {
namespace {

Result<void> run_fsdp_reshard_after_fwd(Graph& graph, const Arguments& arguments,
                                        PassContext& context) {
  const bool reshard = arguments.boolean("reshard");
  JOINTER_CHECK(apply_tags(graph, fsdp_reshard_after_fwd(graph, reshard), context, [&](NodeId) {
    return std::string(reshard ? "it gathers a parameter that is gathered again in the backward"
                               : "it gathers a parameter that is saved for the backward");
  }));
  if (!context.decisions().empty()) return {};
  const std::size_t gathers = fsdp_gathers(graph).size();
  context.decide("kept", gathers == 0 ? "No all-gather matches FSDP's pattern for parameters."
                                      : fmt::format("The gathers of {} are already tagged.",
                                                    counted(gathers, "parameter")));
  return {};
}

}  // namespace

Pass fsdp_reshard_after_fwd_pass() {
  return {.info = {.name = "fsdp_reshard_after_fwd",
                   .summary = "Tags gathered parameters to be gathered again in the backward or to "
                              "be saved for it (removed from torchtitan in May 2026).",
                   .source = "torchtitan/experiments/simple_fsdp/reshard_after_forward.py",
                   .stage = PassStage::fsdp,
                   .parameters = {flag(
                       "reshard", true,
                       "Gather again in the backward; if false, save for the backward.")},
                   .is_idempotent = true},
          .run = run_fsdp_reshard_after_fwd};
}

}  // namespace jointer
