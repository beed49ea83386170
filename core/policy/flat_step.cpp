#include "core/policy/flat_step.h"

#include "core/edit/refuse.h"

namespace jointer {

using nlohmann::ordered_json;

Result<void> check_flat(const Graph& graph) {
  const CaptureKind kind = graph.part(PartId(0)).kind;
  if (!graph.is_pair() && (kind == CaptureKind::train_step || kind == CaptureKind::joint))
    return {};
  return refuse("it needs a graph with forward and backward in one, but this is a {}",
                graph.is_pair() ? "pair" : to_string(kind));
}

ordered_json Renames::in_arguments(const std::string& json) const {
  ordered_json renamed = ordered_json::parse(json);
  rename(renamed, "n");
  return renamed;
}

ordered_json Renames::in_value(const std::string& json) const {
  ordered_json renamed = ordered_json::parse(json);
  rename(renamed, "of");
  return renamed;
}

void Renames::rename(ordered_json& json, const char* key) const {
  if (json.is_object() && json.contains(key) && json[key].is_string()) {
    json[key] = of(json[key].get<std::string>());
    return;
  }
  if (json.is_structured())
    for (ordered_json& element : json) rename(element, key);
}

std::string unused_name(const Graph& graph, const std::string& base) {
  std::string name = base;
  for (int i = 1; graph.find(PartId(0), name); ++i) name = fmt::format("{}_{}", base, i);
  return name;
}

}  // namespace jointer
