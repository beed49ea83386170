#include "core/policy/flat_step.h"

#include "core/edit/refuse.h"

namespace jointer {

Result<void> check_flat(const Graph& graph) {
  const CaptureKind kind = graph.part(PartId(0)).kind;
  if (!graph.is_pair() && (kind == CaptureKind::train_step || kind == CaptureKind::joint))
    return {};
  return refuse("expected forward and backward in one graph, but this graph is of kind {}",
                graph.is_pair() ? "pair" : to_string(kind));
}

std::string unused_name(const Graph& graph, const std::string& base) {
  std::string name = base;
  for (int i = 1; graph.find(PartId(0), name); ++i) name = fmt::format("{}_{}", base, i);
  return name;
}

}  // namespace jointer
