// A name is a base and perhaps a number behind an underscore. A taken one, and one without a
// number, goes on from the number that its base had last.
//
// Source: torch 2.15, fx/graph.py (_Namespace, _target_to_str).

#include "passes/fx_namespace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace jointer {
namespace {

// Builtins of Python that operators are called.
constexpr std::array<std::string_view, 7> kBuiltins{"abs", "all", "any",  "max",
                                                    "min", "pow", "round"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Where the base ends: before `_12`, or at the end.
std::size_t base_end(std::string_view name) {
  std::size_t at = name.size();
  while (at > 0 && is_digit(name[at - 1])) --at;
  const bool has_number =
      at < name.size() && name.size() - at < 18 && at > 1 && name[at - 1] == '_';
  return has_number ? at - 1 : name.size();
}

}  // namespace

FxNamespace::FxNamespace(const Graph& graph, PartId part) {
  for (const NodeId id : graph.order())
    if (graph.node(id).part == part) create(graph.name(id));
}

std::string FxNamespace::create(std::string_view candidate) {
  std::string name(candidate);
  const std::size_t end = base_end(name);
  const std::string base = name.substr(0, end);
  std::int64_t number = 0;
  if (end == name.size() || used_.contains(name)) {
    const auto last = last_.find(base);
    number = last == last_.end() ? 0 : last->second;
    if (std::ranges::find(kBuiltins, name) != kBuiltins.end())
      name = fmt::format("{}_{}", base, ++number);
  } else {
    number = std::stoll(name.substr(end + 1));
  }
  while (used_.contains(name)) name = fmt::format("{}_{}", base, ++number);
  used_.insert(name);
  last_[base] = number;
  return name;
}

std::string FxNamespace::create_for(std::string_view target) {
  // All but the namespace: of `_operator.add`, add.
  const auto dot = target.find('.');
  if (dot != std::string_view::npos) target.remove_prefix(dot + 1);
  std::string name;
  for (std::size_t i = 0; i < target.size(); ++i) {
    const auto c = static_cast<unsigned char>(target[i]);
    if (std::isupper(c) != 0 && i > 0 &&
        std::islower(static_cast<unsigned char>(target[i - 1])) != 0)
      name += '_';
    const bool is_word = std::isalnum(c) != 0 || c == '_';
    if (is_word)
      name += static_cast<char>(std::tolower(c));
    else if (name.empty() || name.back() != '_' ||
             std::isalnum(static_cast<unsigned char>(target[i - 1])) != 0)
      name += '_';
  }
  return create(name);
}

}  // namespace jointer
