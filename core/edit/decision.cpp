#include "core/edit/decision.h"

#include <fmt/core.h>

#include "core/base/counted.h"

namespace jointer {

std::vector<Decision> kept_decisions(const std::vector<Decision>& decisions, std::size_t max_count,
                                     std::size_t max_bytes) {
  std::vector<Decision> kept;
  std::size_t bytes = 0;
  for (const Decision& decision : decisions) {
    bytes += decision.node.size() + decision.action.size() + decision.reason.size() +
             decision.effect.size();
    if (kept.size() == max_count || bytes > max_bytes) break;
    kept.push_back(decision);
    kept.back().pass.clear();
  }
  if (const std::size_t lost = decisions.size() - kept.size(); lost > 0)
    kept.push_back(
        {.action = "left out",
         .reason = fmt::format("{} not stored with the edit.",
                               counted(lost, "more decision is", "more decisions are"))});
  return kept;
}

}  // namespace jointer
