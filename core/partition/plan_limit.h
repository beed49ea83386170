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
