#pragma once

#include <algorithm>
#include <functional>

#include "core/base/result.h"

namespace jointer {

// How far a long computation is, and whether a person wants it to end. Both may be empty.
struct Watcher {
  std::function<void(double done)> report;  // 0 .. 1
  std::function<bool()> is_cancelled;

  // Error (cancelled): it is to end; to be handed on.
  [[nodiscard]] Result<void> at(double done) const {
    if (is_cancelled && is_cancelled()) return fail(Error::Kind::cancelled, "it was cancelled");
    if (report) report(std::clamp(done, 0.0, 1.0));
    return {};
  }
  // The same for a part of the computation, which takes it from one place to another. Must not
  // outlive this.
  [[nodiscard]] Watcher part(double from, double to) const {
    return {.report = report ? [this, from, to](double done) { report(from + (to - from) * done); }
                             : std::function<void(double)>(),
            .is_cancelled = is_cancelled};
  }
};

}  // namespace jointer
