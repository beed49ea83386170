#include "core/compiled/compiled_part.h"

#include "core/graph/torch_version.h"
#include "core/kernels/lowering.h"

namespace jointer {

CompiledPart compile_part(const Graph& graph, PartId part) {
  return compile_part(graph, part, {}).value();
}

Result<CompiledPart> compile_part(const Graph& graph, PartId part,
                                  const std::function<bool()>& is_cancelled) {
  CompiledPart made;
  made.part = part;
  made.torch = torch_version_of(graph.part(part));
  JOINTER_TRY(made.ir, kernels::lower(graph, part, made.torch, is_cancelled));
  JOINTER_TRY(made.scheduled, kernels::schedule(made.ir, made.torch, {}, is_cancelled));
  return made;
}

CompiledPart compile_region(const Graph& graph, const Region& region) {
  return compile_region(graph, region, {}).value();
}

Result<CompiledPart> compile_region(const Graph& graph, const Region& region,
                                    const std::function<bool()>& is_cancelled) {
  CompiledPart made;
  made.part = graph.node(region.calls.front()).part;
  made.torch = torch_version_of(graph.part(made.part));
  JOINTER_TRY(made.ir,
              kernels::lower(graph, region.calls, region.results, made.torch, is_cancelled));
  JOINTER_TRY(made.scheduled, kernels::schedule(made.ir, made.torch, {}, is_cancelled));
  made.calls = region.calls;
  return made;
}

}  // namespace jointer
