#include "passes/support/peak_limit.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/base/distinct_bytes.h"
#include "core/schedule/memory_timeline.h"

namespace jointer {

bool is_within_peak_limit(std::int64_t before, std::int64_t after, PassContext& context) {
  if (!context.peak_limit() || after <= std::max(before, *context.peak_limit())) return true;
  const auto peaks = distinct_bytes(std::array{before, after, *context.peak_limit()});
  context.decide("kept", fmt::format("Left unchanged: the peak would grow from {} to {}, above "
                                     "the limit of {}.",
                                     peaks[0], peaks[1], peaks[2]));
  return false;
}

bool is_within_peak_limit(const Graph& before, const Graph& after, PassContext& context) {
  if (!context.peak_limit()) return true;
  const MemoryOptions& options = context.analysis().memory;
  return is_within_peak_limit(MemoryTimeline(before, options).peak_bytes(),
                              MemoryTimeline(after, options).peak_bytes(), context);
}

void undo_above_peak_limit(Graph& graph, const Graph& before, std::size_t count,
                           PassContext& context) {
  if (is_within_peak_limit(before, graph, context)) return;
  graph = before;
  context.drop_changes(count);
}

}  // namespace jointer
