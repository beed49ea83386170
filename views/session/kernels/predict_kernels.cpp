#include "views/session/kernels/predict_kernels.h"

#include <utility>
#include <vector>

#include "core/compiled/compiled_step.h"

namespace jointer::views {
namespace {

// The parts that the analysis has compiled already. Regions do not count: they leave out the rest
// of the graph.
const std::vector<CompiledPart>* known_parts(const Analysis& analysis) {
  const bool is_whole = analysis.options.execution == Execution::inductor ||
                        analysis.options.execution == Execution::cudagraph;
  return is_whole && analysis.compiled ? &analysis.compiled->parts : nullptr;
}

}  // namespace

Result<SnapshotKernelsPtr> predict_kernels(const SnapshotPtr& snapshot, const Cancellation& job) {
  const Graph& graph = snapshot->graph;
  std::vector<CompiledPart> parts;
  if (const std::vector<CompiledPart>* known = known_parts(snapshot->analysis)) {
    parts = *known;
  } else {
    for (std::size_t part = 0; part < graph.part_count(); ++part) {
      if (job.is_cancelled()) return fail(Error::Kind::cancelled, "cancelled");
      parts.push_back(compile_part(graph, PartId(part)));
    }
  }
  if (job.is_cancelled()) return fail(Error::Kind::cancelled, "cancelled");
  return std::make_shared<const SnapshotKernels>(snapshot, std::move(parts));
}

}  // namespace jointer::views
