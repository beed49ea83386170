#include "passes/bucketing/bucket_key.h"

#include "core/ops/collective_targets.h"

namespace jointer {

std::string bucket_key(const Graph& graph, const Node& start, const BucketRules& rules) {
  std::string_view target = graph.target(start);
  if (rules.takes_buckets && target == kAllGatherOutTarget) target = kAllGatherTarget;
  const bool gathers = target == kAllGatherTarget;
  if (!gathers && target != kReduceScatterTarget && target != kAllReduceTarget) return {};
  const Tensor* result = graph.single_tensor(start);
  const auto text = [&](std::string_view name) -> std::string_view {
    const Argument* argument = graph.argument(start, name);
    return argument != nullptr && argument->kind == Argument::Kind::string
               ? graph.text(argument->text())
               : std::string_view();
  };
  const std::string_view group = text("group_name");
  if (result == nullptr || group.empty()) return {};
  const bool any_dtype = gathers && rules.dtypes == BucketDtypes::several;
  return fmt::format("{} {} {} {}", target, group, gathers ? std::string_view() : text("reduce_op"),
                     any_dtype ? std::string_view() : to_string(result->dtype));
}

}  // namespace jointer
