#include "core/pass/nearest_name.h"

#include <algorithm>
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
  const auto nearest =
      std::min_element(names.begin(), names.end(), [&](std::string_view a, std::string_view b) {
        return edit_distance(a, name) < edit_distance(b, name);
      });
  return nearest == names.end() ? std::string_view() : *nearest;
}

}  // namespace jointer
