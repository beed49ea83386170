#include "core/policy/point_of_step.h"

#include <utility>
#include <vector>

#include "core/cost/node_flops.h"
#include "core/partition/captured_figures.h"
#include "core/partition/partitioned_values.h"
#include "core/policy/apply_step_tags.h"

namespace jointer {

Result<ParetoPoint> point_of_step(const Graph& tagged, std::string name, const Estimator& estimator,
                                  const MemoryOptions& memory) {
  Graph step = tagged;
  JOINTER_CHECK(apply_step_tags(step));
  const std::vector<NodeCost> costs = estimate_all(step, estimator);
  JOINTER_TRY(const std::vector<SaveCandidate> decided,
              partitioned_values(step, costs, flops_of(step)));
  ParetoPoint point{.budget = -1,
                    .name = std::move(name),
                    .plan = {},
                    .figures = captured_figures(step, costs, decided, memory)};
  JOINTER_TRY(point.plan, plan_of_step(tagged, step));
  return point;
}

}  // namespace jointer
