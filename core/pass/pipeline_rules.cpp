#include "core/pass/pipeline_rules.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace jointer {

std::vector<OrderMistake> find_order_mistakes(const Pipeline& pipeline) {
  std::vector<OrderMistake> found;
  std::vector<std::string_view> names;
  std::vector<std::size_t> steps;  // their indices in the pipeline
  for (std::size_t i = 0; i < pipeline.size(); ++i) {
    if (!pipeline[i].is_enabled) continue;
    names.emplace_back(pipeline[i].pass);
    steps.push_back(i);
  }
  const auto place = [&](std::string_view name) {
    return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
  };
  const std::size_t end = names.size();
  if (const auto at = place("cudagraph"); at < end && at + 1 != end)
    found.push_back(
        {steps[at], "cudagraph must be the last pass, because it captures the final graph"});
  const auto automatic = place("autobucketing_reordering");
  for (const std::string_view by_block :
       {"transformer_block_bucketing", "joint_transformer_block_bucketing_reordering"})
    if (const auto blocks = place(by_block); automatic < end && blocks < end)
      found.push_back({steps[std::max(automatic, blocks)],
                       fmt::format("autobucketing_reordering and {} are mutually exclusive: "
                                   "both bucket the same collectives",
                                   by_block)});
  if (const auto full = place("full_inductor_compilation");
      full < end && place("inductor_decomposition") > full)
    found.push_back(
        {steps[full], "full_inductor_compilation needs inductor_decomposition before it"});
  return found;
}

Result<void> check_order(const Pipeline& pipeline) {
  if (const auto mistakes = find_order_mistakes(pipeline); !mistakes.empty())
    return fail(Error::Kind::usage, "{}", mistakes.front().message);
  return {};
}

}  // namespace jointer
