#include "core/graph/torch_version.h"

#include "core/graph/graph.h"

namespace jointer {

TorchVersion torch_version_of(const Part& part) {
  return parse_torch_version(part.torch_version).value_or(kNewestTorch);
}

TorchVersion torch_version_of(const Graph& graph) {
  return graph.part_count() == 0 ? kNewestTorch : torch_version_of(graph.part(PartId(0)));
}

bool is_of_torch(const Part& part, int major, int minor) {
  return torch_version_of(part) >= TorchVersion{major, minor};
}

}  // namespace jointer
