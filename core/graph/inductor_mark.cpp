#include "core/graph/inductor_mark.h"

#include <nlohmann/json.hpp>

#include "core/base/json_text.h"

namespace jointer {

bool is_annotated_for_inductor(const Graph& graph, const Node& node) {
  return node.custom && inductor_options(graph.text(node.custom)).has_value();
}

std::optional<std::string> inductor_options(std::string_view custom) {
  const auto parsed = parse_json(custom, "custom");
  if (!parsed || !parsed->is_object()) return std::nullopt;
  const auto mark = parsed->find(kInductorMark);
  if (mark == parsed->end()) return std::nullopt;
  if (!mark->is_object()) return "";
  const auto options = mark->find("inductor_configs");
  return options == mark->end() || options->empty() ? std::string() : options->dump();
}

}  // namespace jointer
