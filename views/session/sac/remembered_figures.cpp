#include "views/session/sac/remembered_figures.h"

#include <algorithm>

namespace jointer::views {
namespace {

constexpr std::size_t kMaxEntries = 200;

}  // namespace

void RememberedFigures::add(const SnapshotPtr& baseline, const EditHistory& history,
                            const PlanFigures& figures) {
  if (baseline != baseline_) entries_.clear();
  baseline_ = baseline;
  std::erase_if(entries_, [&](const Entry& entry) { return entry.history == history; });
  entries_.push_front({history, figures});
  if (entries_.size() > kMaxEntries) entries_.pop_back();
}

std::optional<PlanFigures> RememberedFigures::find(const SnapshotPtr& baseline,
                                                   const EditHistory& history) const {
  if (baseline != baseline_) return std::nullopt;
  const auto found = std::ranges::find(entries_, history, &Entry::history);
  return found == entries_.end() ? std::nullopt : std::optional(found->figures);
}

}  // namespace jointer::views
