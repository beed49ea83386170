#include "app/cli/commands/names_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

namespace jointer::cli {

std::string names_text(const Json& names, std::size_t max) {
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(names.size(), max); ++i)
    shown.push_back(names[i].get<std::string>());
  std::string text = fmt::format("{}", fmt::join(shown, ", "));
  if (names.size() > max) text += fmt::format(" +{}", names.size() - max);
  return text;
}

}  // namespace jointer::cli
