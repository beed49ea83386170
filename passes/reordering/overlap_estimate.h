#pragma once

// How much compute runs beside a collective in an order of calls, as upstream's reordering passes
// estimate it: from its start on to the right, what takes time on the compute stream is summed up
// until
//   - its wait, or the end of the stretch;
//   - a collective that returns only when it is over;
//   - the wait of a collective on the same stream that was started later: they run one after the
//     other, so this one is over too.
// What a wait itself takes does not count. Multipliers are upstream's, for estimates that are known
// to be off.

#include <algorithm>
#include <cstdint>

#include "passes/reordering/calls.h"
#include "passes/reordering/live_order.h"

namespace jointer {

struct Overlap {
  std::int64_t communication = 0, compute = 0;  // nanoseconds
  // The sum ended before the wait: compute that comes between later does not count.
  bool is_cut = false;

  // Negative: by how much there is more compute than is needed.
  [[nodiscard]] std::int64_t exposed() const { return communication - compute; }
  // By how much longer it would show with `change` more compute beside it.
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

  // Times its multiplier.
  [[nodiscard]] std::int64_t ns(Call call) const;
  // Whether compute behind `other` is no longer beside the collective.
  [[nodiscard]] bool ends(const LiveOrder& order, Call start, Call other) const;
  // Cost: the calls between.
  [[nodiscard]] Overlap of(const LiveOrder& order, Call start, Stretch stretch) const;

 private:
  const Calls& calls_;
  Multipliers multipliers_;
};

}  // namespace jointer
