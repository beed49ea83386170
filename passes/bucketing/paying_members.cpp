#include "passes/bucketing/paying_members.h"

namespace jointer {

std::vector<std::size_t> paying_members(std::span<const std::int64_t> bytes, std::int64_t copies_ns,
                                        std::int64_t saved_ns) {
  double all = 0;
  for (const std::int64_t of_member : bytes) all += static_cast<double>(of_member);
  if (!(all > 0)) return {};
  const double each = static_cast<double>(saved_ns) / static_cast<double>(bytes.size() - 1);
  std::vector<std::size_t> stay;
  double copies = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const double own = static_cast<double>(copies_ns) * static_cast<double>(bytes[i]) / all;
    if (own > each) continue;
    stay.push_back(i);
    copies += own;
  }
  // The first member saves nothing, so together they may still cost more than they save. No other
  // set of members gains more.
  if (stay.size() < 2 || copies > each * static_cast<double>(stay.size() - 1)) return {};
  return stay;
}

}  // namespace jointer
