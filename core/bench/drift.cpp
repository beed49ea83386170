#include "core/bench/drift.h"

#include <cmath>
#include <vector>

#include "core/base/median.h"

namespace jointer {

std::optional<double> step_drift(std::span<const std::int64_t> step_ns) {
  constexpr std::size_t kMinIterations = 8, kParts = 4;
  if (step_ns.size() < kMinIterations) return std::nullopt;
  const std::size_t part = step_ns.size() / kParts;
  const auto median_of = [](std::span<const std::int64_t> some) {
    return static_cast<double>(median(std::vector<std::int64_t>(some.begin(), some.end())));
  };
  const double first = median_of(step_ns.first(part)), last = median_of(step_ns.last(part));
  if (first <= 0) return std::nullopt;
  return last / first - 1;
}

bool is_significant_drift(double drift) {
  constexpr double kMin = 0.05;
  return std::abs(drift) >= kMin;
}

}  // namespace jointer
