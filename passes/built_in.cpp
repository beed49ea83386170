#include "passes/built_in.h"

#include <cstdlib>
#include <utility>

#include "passes/bucketing/bucketing.h"
#include "passes/checks/checks.h"
#include "passes/clean_up/clean_up.h"
#include "passes/compile/compile.h"
#include "passes/ep_overlap/ep_overlap.h"
#include "passes/fsdp/fsdp.h"
#include "passes/graph_pp/graph_pp.h"
#include "passes/reordering/reordering.h"
#include "passes/sac/sac.h"
#include "passes/symm_mem/symm_mem.h"
#include "passes/tune/auto_tune.h"

namespace jointer {
namespace {

// These passes run other passes, so they need the registry.
std::vector<Pass> search_passes() {
  return {auto_tune_pass(built_in_passes)};
}

}  // namespace

PassRegistry built_in_passes() {
  PassRegistry registry;
  for (auto family : {clean_up_passes, sac_passes, fsdp_passes, bucketing_passes, reordering_passes,
                      ep_overlap_passes, symm_mem_passes, check_passes, graph_pp_passes,
                      compile_passes, search_passes})
    for (Pass& pass : family())
      if (!registry.add(std::move(pass))) std::abort();  // declared incorrectly: a bug in Jointer
  return registry;
}

}  // namespace jointer
