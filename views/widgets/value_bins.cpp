#include "views/widgets/value_bins.h"

#include <algorithm>
#include <cmath>

namespace jointer::views {
namespace {

constexpr double kMaxRatio = 30;

// The lower edge of each bin, and the upper edge of the last one.
std::vector<std::int64_t> edges_of(std::int64_t low, std::int64_t high, std::size_t count) {
  const auto from = static_cast<double>(low), to = static_cast<double>(high);
  const bool is_logarithmic = to > kMaxRatio * std::max(from, 1.0);
  std::vector<std::int64_t> edges;
  for (std::size_t i = 0; i < count; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(count);
    const double edge = is_logarithmic
                            ? std::exp(std::log1p(from) * (1 - share) + std::log1p(to) * share) - 1
                            : from + (to - from) * share;
    edges.push_back(std::llround(edge));
  }
  edges.push_back(high);
  return edges;
}

}  // namespace

std::vector<ValueBin> value_bins(std::span<const std::int64_t> sorted, std::size_t max_bins) {
  if (sorted.empty() || max_bins == 0) return {};
  const std::int64_t low = sorted.front(), high = sorted.back();
  // Bins are at least 1 wide, since values are integers.
  const auto width = static_cast<std::uint64_t>(high - low);
  const std::size_t count =
      width == 0 ? 1 : std::min<std::size_t>(max_bins, static_cast<std::size_t>(width));
  std::vector<std::int64_t> edges = edges_of(low, high, count);
  edges.front() = low;
  const auto repeated = std::ranges::unique(edges);
  edges.erase(repeated.begin(), repeated.end());
  if (edges.size() < 2) return {{low, high, 0, sorted.size()}};
  std::vector<ValueBin> bins;
  std::size_t first = 0;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    const bool is_last = i + 2 == edges.size();
    const auto last = is_last
                          ? sorted.size()
                          : static_cast<std::size_t>(
                                std::ranges::lower_bound(sorted, edges[i + 1]) - sorted.begin());
    bins.push_back({edges[i], edges[i + 1], first, last});
    first = last;
  }
  return bins;
}

}  // namespace jointer::views
