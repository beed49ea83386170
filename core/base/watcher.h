#pragma once

#include <algorithm>
#include <functional>

#include "core/base/result.h"

namespace jointer {

// Reports the progress of a long computation, and asks whether the user has cancelled it. Both
// functions may be empty.
struct Watcher {
  std::function<void(double done)> report;  // 0 .. 1
  std::function<bool()> is_cancelled;

  // Reports the progress `done`. Error (cancelled): the user has cancelled; the computation must
  // stop and return this error.
  [[nodiscard]] Result<void> at(double done) const {
    if (is_cancelled && is_cancelled()) return fail(Error::Kind::cancelled, "cancelled");
    if (report) report(std::clamp(done, 0.0, 1.0));
    return {};
  }
  // Returns a watcher for a part of the computation, whose progress 0 .. 1 is reported as `from` ..
  // `to`. The returned watcher must not outlive this one.
  [[nodiscard]] Watcher part(double from, double to) const {
    return {.report = report ? [this, from, to](double done) { report(from + (to - from) * done); }
                             : std::function<void(double)>(),
            .is_cancelled = is_cancelled};
  }
};

}  // namespace jointer
