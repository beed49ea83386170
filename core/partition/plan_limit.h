#pragma once

#include <cstdint>
#include <tuple>

#include "core/schedule/what_if.h"

namespace jointer {

// The metric that is limited, and the metric to minimize.
struct PlanLimit {
  std::int64_t Figures::*limited;
  std::int64_t Figures::*minimized;
  std::int64_t value = 0;

  static PlanLimit of_peak(std::int64_t bytes) {
    return {&Figures::peak_bytes, &Figures::step_ns, bytes};
  }
  static PlanLimit of_step(std::int64_t ns) {
    return {&Figures::step_ns, &Figures::peak_bytes, ns};
  }
  [[nodiscard]] bool holds(const Figures& figures) const { return figures.*limited <= value; }
  // True if the best plan of a search is so far beyond the limit that no other plan is expected to
  // be within it: the limit is more than a tenth lower. False for a limit of 0, which asks for the
  // lowest value that can be found.
  [[nodiscard]] bool is_out_of_reach(const Figures& best) const {
    constexpr std::int64_t kTenths = 10;
    return value > 0 && best.*limited - best.*limited / kTenths > value;
  }
  // Plans within the limit come first, ordered by the metric to minimize; then the others, by their
  // distance from the limit. The other metric decides between equal ones.
  [[nodiscard]] bool is_better(const Figures& a, const Figures& b) const {
    const auto key = [&](const Figures& f) {
      const bool is_over = !holds(f);
      return std::tuple(is_over, is_over ? f.*limited : f.*minimized,
                        is_over ? f.*minimized : f.*limited);
    };
    return key(a) < key(b);
  }
  friend bool operator==(const PlanLimit&, const PlanLimit&) = default;
};

}  // namespace jointer
