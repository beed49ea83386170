#include "core/pass/nearest_name.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace jointer {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j)
      diagonal = std::exchange(
          row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, diagonal + (a[i] == b[j] ? 0 : 1)}));
  }
  return row.back();
}

}  // namespace

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> names) {
  std::string_view nearest;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const std::string_view each : names) {
    const std::size_t distance = edit_distance(each, name);
    const bool is_near = distance <= (std::max(each.size(), name.size()) + 2) / 3;
    const bool is_part = name.size() >= 3 && each.find(name) != std::string_view::npos;
    if ((is_near || is_part) && distance < least) {
      nearest = each;
      least = distance;
    }
  }
  return nearest;
}

std::string nearest_name_question(std::string_view name, std::span<const std::string_view> names) {
  const std::string_view nearest = nearest_name(name, names);
  return nearest.empty() ? ";" : "; did you mean " + std::string(nearest) + "?";
}

}  // namespace jointer
