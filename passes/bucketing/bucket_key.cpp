#include "passes/bucketing/bucket_key.h"

#include "core/graph/group_argument.h"
#include "core/ops/collective_targets.h"

namespace jointer {

std::string bucket_key(const Graph& graph, const Node& start, const BucketRules& rules) {
  std::string_view target = graph.target(start);
  if (rules.takes_buckets && target == kAllGatherOutTarget) target = kAllGatherTarget;
  const bool gathers = target == kAllGatherTarget;
  if (!gathers && target != kReduceScatterTarget && target != kAllReduceTarget) return {};
  const Tensor* result = graph.single_tensor(start);
  const std::string_view group = text_argument(graph, start, "group_name");
  if (result == nullptr || group.empty()) return {};
  const bool any_dtype = gathers && rules.dtypes == BucketDtypes::several;
  return fmt::format("{} {} {} {}", target, group,
                     gathers ? std::string_view() : text_argument(graph, start, "reduce_op"),
                     any_dtype ? std::string_view() : to_string(result->dtype));
}

}  // namespace jointer
