#include "passes/support/inductor_mark.h"

#include <nlohmann/json.hpp>

#include "core/base/json_text.h"

namespace jointer {

bool is_annotated_for_inductor(const Graph& graph, const Node& node) {
  if (!node.custom) return false;
  const auto custom = parse_json(graph.text(node.custom), "custom");
  return custom && custom->is_object() && custom->contains(kInductorMark);
}

}  // namespace jointer
