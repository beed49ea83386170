#include "views/session/kernels/predict_kernels.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/parallel.h"
#include "core/compiled/compiled_step.h"

namespace jointer::views {
namespace {

// The parts that the analysis has already compiled; null if there are none. Regions do not count,
// since they leave out the rest of the graph.
const std::vector<CompiledPart>* known_parts(const Analysis& analysis) {
  const bool is_whole = analysis.options.execution == Execution::inductor ||
                        analysis.options.execution == Execution::cudagraph;
  return is_whole && analysis.compiled ? &analysis.compiled->parts : nullptr;
}

}  // namespace

Result<SnapshotKernelsPtr> predict_kernels(const SnapshotPtr& snapshot, const Cancellation& job) {
  const Graph& graph = snapshot->graph;
  std::vector<CompiledPart> parts;
  const auto is_cancelled = [&job] { return job.is_cancelled(); };
  if (const std::vector<CompiledPart>* known = known_parts(snapshot->analysis)) {
    parts = *known;
  } else if (!graph.is_pair()) {
    JOINTER_TRY(parts.emplace_back(), compile_part(graph, PartId(0), is_cancelled));
  } else {
    std::array<std::optional<Result<CompiledPart>>, 2> halves;
    run_both([&] { halves[0] = compile_part(graph, kForwardPart, is_cancelled); },
             [&] { halves[1] = compile_part(graph, kBackwardPart, is_cancelled); });
    for (std::optional<Result<CompiledPart>>& half : halves) {
      JOINTER_TRY(parts.emplace_back(), *std::move(half));
    }
  }
  if (job.is_cancelled()) return fail(Error::Kind::cancelled, "cancelled");
  return std::make_shared<const SnapshotKernels>(snapshot, std::move(parts));
}

}  // namespace jointer::views
