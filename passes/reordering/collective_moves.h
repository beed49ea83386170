#pragma once

// Reports from passes that move one collective at a time: for each move, a decision and a row of
// the table that upstream logs.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/pass/pass.h"
#include "passes/reordering/calls.h"
#include "passes/reordering/live_order.h"
#include "passes/reordering/overlap_estimate.h"

namespace jointer {

struct CollectiveMove {
  Call call = 0;  // the moved call: a start or a wait
  Overlap before, after;
  std::int64_t moves = 0;                          // number of calls that it moved past
  std::int64_t grouped = 0;                        // number of calls that moved with it
  std::string limit;                               // a short phrase: the reason not to move further
  std::int64_t bytes_before = 0, bytes_after = 0;  // live bytes at the call
};

// `direction` is "earlier" or "later". The peaks are the maxima over all stretches.
struct CollectiveReport {
  std::string title;
  std::string_view direction;
  std::int64_t peak_before = 0, peak_after = 0;
  std::vector<CollectiveMove> moves;
};
void report_moves(const Graph& graph, const Calls& calls, const CollectiveReport& report,
                  PassContext& context);

// The number of live bytes that a stretch with this peak may reach: `1 + budget` times the peak,
// but no more than the larger of the run's limit and the peak. Saturates.
std::int64_t allowed_bytes(std::int64_t peak, double budget, const PassContext& context);

}  // namespace jointer
