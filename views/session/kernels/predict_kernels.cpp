#include "views/session/kernels/predict_kernels.h"

#include <utility>
#include <vector>

#include "core/capture/half_graph.h"
#include "core/graph/torch_version.h"
#include "core/kernels/lowering.h"

namespace jointer::views {
namespace {

CompiledPart compile_part(const Graph& graph, PartId part) {
  CompiledPart made;
  made.part = part;
  made.torch = torch_version_of(graph);
  made.ir = kernels::lower(graph, made.torch);
  made.scheduled = kernels::schedule(made.ir, made.torch);
  return made;
}

// Replaces nodes of a half by those of the pair, which have the same names.
void use_nodes_of_pair(CompiledPart& part, const Graph& half, const Graph& pair) {
  const auto replace = [&](std::vector<NodeId>& nodes) {
    for (NodeId& node : nodes) node = pair.find(part.part, half.name(node));
    std::erase(nodes, NodeId());
  };
  for (kernels::Op& op : part.ir.ops) replace(op.nodes);
  for (kernels::Kernel& kernel : part.scheduled.kernels) replace(kernel.nodes);
}

}  // namespace

Result<SnapshotKernelsPtr> predict_kernels(const SnapshotPtr& snapshot, const Cancellation& job) {
  const Graph& graph = snapshot->graph;
  std::vector<CompiledPart> parts;
  if (!graph.is_pair()) {
    parts.push_back(compile_part(graph, PartId(0)));
  } else {
    for (const PartId half : {kForwardPart, kBackwardPart}) {
      if (job.is_cancelled()) return fail(Error::Kind::cancelled, "cancelled");
      JOINTER_TRY(const Graph alone, half_graph(graph, half));
      if (job.is_cancelled()) return fail(Error::Kind::cancelled, "cancelled");
      use_nodes_of_pair(parts.emplace_back(compile_part(alone, half)), alone, graph);
    }
  }
  return std::make_shared<const SnapshotKernels>(snapshot, std::move(parts));
}

}  // namespace jointer::views
