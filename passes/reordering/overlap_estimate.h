#pragma once

// Estimates how much compute overlaps with a collective in an order of calls, as upstream's
// reordering passes do. Compute time is summed from the collective's start up to the first of
//   - the collective's wait, or the end of the stretch;
//   - a collective whose call returns only when the collective has finished;
//   - the wait of a later collective on the same stream: collectives on a stream run one after
//     another, so the first collective has finished, too.
// Collectives and waits do not count as compute. The multipliers, which correct the estimates, are
// upstream's.

#include <algorithm>
#include <cstdint>

#include "passes/reordering/calls.h"
#include "passes/reordering/live_order.h"

namespace jointer {

struct Overlap {
  std::int64_t communication = 0, compute = 0;  // nanoseconds
  // True if `compute` was summed only up to a point before the collective's wait; see above.
  bool is_cut = false;

  // Communication time that compute does not cover; if negative, the surplus of compute.
  [[nodiscard]] std::int64_t exposed() const { return communication - compute; }
  // The change in exposed time if `more_compute` additional nanoseconds of compute overlap.
  [[nodiscard]] std::int64_t change(std::int64_t more_compute) const {
    return std::max<std::int64_t>(exposed() - more_compute, 0) -
           std::max<std::int64_t>(exposed(), 0);
  }
};

class OverlapEstimate {
 public:
  struct Multipliers {
    double communication = 1, compute = 1;
  };
  OverlapEstimate(const Calls& calls, Multipliers multipliers)
      : calls_(calls), multipliers_(multipliers) {}

  // The call's estimated time, scaled by the multiplier for communication if it starts a collective
  // or a copy to or from the host, and by that for compute otherwise.
  [[nodiscard]] std::int64_t ns(Call call) const;
  // True if compute after `other` cannot overlap with the collective.
  [[nodiscard]] bool ends(const LiveOrder& order, Call start, Call other) const;
  // Cost: linear in the number of calls from the start to its wait.
  [[nodiscard]] Overlap of(const LiveOrder& order, Call start, Stretch stretch) const;

 private:
  const Calls& calls_;
  Multipliers multipliers_;
};

}  // namespace jointer
