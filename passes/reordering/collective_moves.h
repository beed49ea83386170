#pragma once

// What a pass that moves one collective after the other says of each of them: a decision, and a row
// of the table that upstream logs.

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
  Call call = 0;  // what was moved: the start, or the wait
  Overlap before, after;
  std::int64_t moves = 0;                          // calls that it went over
  std::int64_t grouped = 0;                        // calls that went with it
  std::string limit;                               // why it went no further: a short phrase
  std::int64_t bytes_before = 0, bytes_after = 0;  // live at it
};

// `direction`: "earlier" or "later". Peaks are of the stretches that were looked at.
struct CollectiveReport {
  std::string title;
  std::string_view direction;
  std::int64_t peak_before = 0, peak_after = 0;
  std::vector<CollectiveMove> moves;
};
void report_moves(const Graph& graph, const Calls& calls, const CollectiveReport& report,
                  PassContext& context);

// The most bytes that a stretch with this peak may come to: a share of the peak more, and no more
// than the limit of the run unless it is over that already. Saturates.
std::int64_t allowed_bytes(std::int64_t peak, double budget, const PassContext& context);

}  // namespace jointer
