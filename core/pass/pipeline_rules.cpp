#include "core/pass/pipeline_rules.h"

#include <algorithm>
#include <string_view>

namespace jointer {

Result<void> check_order(const Pipeline& pipeline) {
  std::vector<std::string_view> names;
  for (const PipelineStep& step : pipeline)
    if (step.is_enabled) names.emplace_back(step.pass);
  const auto place = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) - names.begin();
  };
  const auto end = std::ssize(names);
  if (const auto at = place("cudagraph"); at < end && at + 1 != end)
    return fail(Error::Kind::usage,
                "cudagraph must be the last pass: it records the graph as it is then");
  if (place("autobucketing_reordering") < end && place("transformer_block_bucketing") < end)
    return fail(Error::Kind::usage,
                "autobucketing_reordering and transformer_block_bucketing exclude each other: both "
                "bucket the same collectives");
  if (const auto full = place("full_inductor_compilation");
      full < end && place("inductor_decomposition") > full)
    return fail(Error::Kind::usage,
                "full_inductor_compilation needs inductor_decomposition before it");
  return {};
}

}  // namespace jointer
