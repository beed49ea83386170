#include "views/session/kernels/tied_artifacts.h"

#include <utility>
#include <vector>

#include "core/capture/program_part.h"
#include "core/capture/tied_kernels.h"

namespace jointer::views {

Result<SnapshotKernelsPtr> tie_artifacts(const SnapshotPtr& snapshot,
                                         const std::shared_ptr<const CompileArtifacts>& artifacts) {
  const Graph& graph = snapshot->graph;
  std::vector<PartId> halves{kForwardPart};
  if (graph.is_pair()) halves.push_back(kBackwardPart);
  std::vector<CompiledPart> parts;
  std::vector<Compilation> compilations;
  for (const PartId half : halves) {
    const std::size_t best = best_program(artifacts->programs, graph, half);
    // Shares the ownership of the artifacts, which contain the program.
    const std::shared_ptr<const CompiledProgram> program(artifacts, &artifacts->programs[best]);
    TiedKernels ties = tie_kernels(*program, graph, half);
    // The artifacts may be those of only one half; the other half then has no kernels.
    if (ties.tied_calls == 0) continue;
    compilations.push_back({.program = program,
                            .tied_calls = ties.tied_calls,
                            .untied_kernels = ties.untied.size(),
                            .calls_without_kernel = ties.without_kernel.size()});
    parts.push_back(part_of_program(graph, *program, half, std::move(ties)));
  }
  if (parts.empty())
    return input_error(
        "{}: no kernel contains a call of this graph; open the artifacts of a compilation of the "
        "same model, or the graph that was compiled",
        artifacts->programs.front().file);
  return std::make_shared<const SnapshotKernels>(snapshot, std::move(parts),
                                                 std::move(compilations));
}

}  // namespace jointer::views
