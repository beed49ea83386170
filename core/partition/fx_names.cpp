#include "core/partition/fx_names.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace jointer {
namespace {

struct Parts {
  std::string base;
  std::optional<long long> number;
};

// relu_12: relu and 12.
Parts split(const std::string& name) {
  const auto underscore = name.rfind('_');
  if (underscore == std::string::npos || underscore + 1 == name.size()) return {name, {}};
  long long number = 0;
  const char* const end = name.data() + name.size();
  const auto [last, error] = std::from_chars(name.data() + underscore + 1, end, number);
  if (error != std::errc{} || last != end || name[underscore + 1] == '-') return {name, {}};
  return {name.substr(0, underscore), number};
}

}  // namespace

std::string FxNames::create(std::string_view candidate) {
  std::string name(candidate);
  const auto [base, given] = split(name);
  long long number = given.value_or(0);
  if (!given || used_.contains(name)) {
    const auto last = last_number_.find(name);
    number = last == last_number_.end() ? 0 : last->second;
  }
  while (used_.contains(name)) name = base + "_" + std::to_string(++number);
  used_.insert(name);
  last_number_[base] = number;
  return name;
}

}  // namespace jointer
