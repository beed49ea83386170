#include "core/base/nearest_name.h"

#include <fmt/core.h>

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

constexpr std::size_t kFar = std::numeric_limits<std::size_t>::max();

// The edit distance between the names; kFar if they are not similar.
std::size_t distance_if_near(std::string_view each, std::string_view name) {
  const std::size_t longer = std::max(each.size(), name.size());
  const std::size_t max_distance = (longer + 2) / 3;
  const bool is_part = name.size() >= 3 && each.find(name) != std::string_view::npos;
  if (!is_part && longer - std::min(each.size(), name.size()) > max_distance) return kFar;
  const std::size_t distance = edit_distance(each, name);
  return is_part || distance <= max_distance ? distance : kFar;
}

}  // namespace

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> names) {
  std::string_view nearest;
  std::size_t min_distance = kFar;
  for (const std::string_view each : names)
    if (const std::size_t distance = distance_if_near(each, name); distance < min_distance) {
      nearest = each;
      min_distance = distance;
    }
  return nearest;
}

std::string some_names(std::string_view name, std::span<const std::string_view> names) {
  constexpr std::size_t kShown = 8;
  std::vector<std::pair<std::size_t, std::string_view>> ordered;
  for (const std::string_view each : names)
    ordered.emplace_back(distance_if_near(each, name), each);
  std::ranges::stable_sort(ordered, {}, [](const auto& each) { return each.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, ordered.size()); ++i)
    text += fmt::format("{}{}", i > 0 ? ", " : "", ordered[i].second);
  if (ordered.size() > kShown) text += fmt::format(" and {} more", ordered.size() - kShown);
  return text;
}

std::string nearest_name_question(std::string_view name, std::span<const std::string_view> names,
                                  std::string_view before, std::string_view after) {
  const std::string_view nearest = nearest_name(name, names);
  return nearest.empty() ? ";" : fmt::format("; did you mean {}{}{}?", before, nearest, after);
}

}  // namespace jointer
