#include "core/base/number_range.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace jointer {
namespace {

struct TimeUnit {
  std::string_view name;
  double ns;
  int max_decimals;  // down to a nanosecond
};

// The largest unit in which the time is at least 1 after rounding, as in format_ms.
TimeUnit unit_of(double ns) {
  if (ns >= 999.5e6) return {"s", 1e9, 9};
  if (ns >= 999.5e3) return {"ms", 1e6, 6};
  if (ns >= 999.5) return {"us", 1e3, 3};
  return {"ns", 1, 0};
}

// The number of decimals that a magnitude needs for this many significant digits.
int decimals_for(double magnitude, int digits) {
  return digits - 1 - static_cast<int>(std::floor(std::log10(magnitude) + 1e-12));
}

}  // namespace

RangeText format_ns_range(std::int64_t begin, std::int64_t end) {
  const auto larger = static_cast<double>(std::max(std::abs(begin), std::abs(end)));
  const TimeUnit unit = unit_of(larger);
  int decimals = unit.ns == 1e9 ? 3 : larger > 0 ? decimals_for(larger / unit.ns, 3) : 0;
  // The ends look different if the unit of their last digit is at most their difference.
  if (begin != end)
    decimals =
        std::max(decimals, decimals_for(std::fabs(static_cast<double>(end - begin)) / unit.ns, 1));
  decimals = std::clamp(decimals, 0, unit.max_decimals);
  const auto text = [&](std::int64_t ns) {
    return fmt::format("{:.{}f} {}", static_cast<double>(ns) / unit.ns, ns == 0 ? 0 : decimals,
                       unit.name);
  };
  return {text(begin), text(end)};
}

}  // namespace jointer
