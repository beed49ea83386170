#include "core/partition/fx_names.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/base/number_text.h"
#include "core/graph/torch_version.h"

namespace jointer {
namespace {

// Some Python builtins that operators are named after; torch.fx avoids all builtins.
constexpr std::array<std::string_view, 8> kBuiltins{"abs", "all", "any",   "max",
                                                    "min", "pow", "round", "slice"};

struct Parts {
  std::string_view base;
  std::optional<long long> number;
};

// Splits a name: relu_12 into relu and 12.
Parts split(std::string_view name) {
  const auto underscore = name.rfind('_');
  if (underscore == std::string_view::npos || underscore + 1 == name.size()) return {name, {}};
  const auto number = number_of<long long>(name.substr(underscore + 1));
  if (!number || name[underscore + 1] == '-') return {name, {}};
  return {name.substr(0, underscore), *number};
}

bool is_between(char c, char first, char last) {
  return c >= first && c <= last;
}

std::string numbered(std::string_view base, long long number) {
  return fmt::format("{}_{}", base, number);
}

// Converts to snake_case, with one underscore for each run of characters that a name cannot
// contain, and one before a leading digit.
std::string to_name(std::string_view text) {
  std::string name;
  bool is_gap = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_upper = is_between(c, 'A', 'Z');
    if (is_upper && i > 0 && is_between(text[i - 1], 'a', 'z')) name += '_';
    const bool is_legal =
        is_upper || is_between(c, 'a', 'z') || is_between(c, '0', '9') || c == '_';
    if (is_legal)
      name += is_upper ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!is_gap)
      name += '_';
    is_gap = !is_legal;
  }
  return !name.empty() && is_between(name.front(), '0', '9') ? "_" + name : name;
}

}  // namespace

std::string fx_call_name(std::string_view target) {
  const std::size_t dot = target.find('.');
  return to_name(dot == std::string_view::npos ? target : target.substr(dot + 1));
}

std::string fx_attribute_name(std::string_view target) {
  return to_name(target);
}

std::string FxNames::create(std::string_view candidate) {
  std::string name(candidate);
  const auto [base, given] = split(candidate);
  long long number = given.value_or(0);
  if (!given || used_.find(candidate)) {
    number = last_number(goes_on_ ? base : candidate);
    if (std::ranges::find(kBuiltins, candidate) != kBuiltins.end()) name = numbered(base, ++number);
  }
  while (used_.find(name)) name = numbered(base, ++number);
  used_.intern(name);
  const StringId id = bases_.intern(base);
  last_numbers_.resize(bases_.size());
  last_numbers_[id.index()] = number;
  return name;
}

long long FxNames::last_number(std::string_view base) const {
  const StringId id = bases_.find(base);
  return id && id.index() < last_numbers_.size() ? last_numbers_[id.index()] : 0;
}

FxNames names_of(const Graph& graph, PartId part) {
  FxNames names(torch_version_of(graph.part(part)));
  for (const NodeId id : graph.order())
    if (graph.node(id).part == part) names.create(graph.name(id));
  return names;
}

}  // namespace jointer
