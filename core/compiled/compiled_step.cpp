#include "core/compiled/compiled_step.h"

#include <memory>
#include <utility>

#include "core/compiled/compiled_calls.h"
#include "core/compiled/compiled_lives.h"
#include "core/compiled/regions.h"
#include "core/graph/torch_version.h"

namespace jointer {
namespace {

std::vector<CompiledPart> parts_of(const Graph& graph, Execution execution) {
  std::vector<CompiledPart> parts;
  if (execution == Execution::regional) {
    for (const Region& region : find_regions(graph)) parts.push_back(compile_region(graph, region));
    return parts;
  }
  for (std::size_t part = 0; part < graph.part_count(); ++part)
    parts.push_back(compile_part(graph, PartId(part)));
  return parts;
}

}  // namespace

Result<void> check_execution(const Graph& graph, Execution execution) {
  if (execution == Execution::cudagraph && graph.main_device() == DeviceType::cpu)
    return fail(Error::Kind::usage,
                "{} runs on the CPU, which has no CUDA graphs; choose `inductor` instead",
                graph.title());
  if (execution == Execution::regional && find_regions(graph).empty())
    return fail(Error::Kind::usage,
                "no call of {} is marked with compile_with_inductor, so its regions are not known; "
                "mark calls with the pass annotate_flex_attention_for_regional_inductor or "
                "annotate_rmsnorm_for_regional_inductor, or choose `inductor`, which compiles all "
                "of it",
                graph.title());
  return {};
}

Result<Analysis> analyze_step(const Graph& graph, const AnalysisOptions& options) {
  JOINTER_TRY(AnalysisBasis basis, analysis_basis(graph, options));
  const Execution execution = options.execution;
  if (execution == Execution::eager) return Analysis(std::move(basis), graph);
  auto step = std::make_shared<CompiledStep>();
  step->parts = parts_of(graph, execution);
  for (const CompiledPart& part : step->parts)
    step->times.push_back(
        kernels::kernel_times(graph, part.ir, part.scheduled, basis.costs, basis.device));
  CompiledCalls calls = compiled_calls(graph, step->parts, step->times, basis.costs, execution);
  Graph ordered = graph;
  ordered.set_order(std::move(calls.order));
  const MemoryOptions& memory = basis.options.memory;
  std::vector<Lifetime> lifetimes =
      execution == Execution::regional
          ? regional_lifetimes(graph, MemoryTimeline(ordered, memory), step->parts, calls)
          : compiled_lifetimes(graph, basis.memory, step->parts, calls);
  basis.memory = MemoryTimeline(graph, memory, std::move(calls.steps), std::move(lifetimes));
  basis.operator_costs = std::exchange(basis.costs, std::move(calls.costs));
  basis.options.execution = execution;
  basis.estimator += ", " + execution_text(graph, execution);
  basis.compiled = std::move(step);
  return Analysis(std::move(basis), ordered);
}

std::string execution_text(const Graph& graph, Execution execution) {
  if (execution == Execution::eager) return "one kernel per operator";
  const TorchVersion torch = torch_version_of(graph);
  return fmt::format("kernels as predicted for Inductor of torch {}.{}{}", torch.major, torch.minor,
                     execution == Execution::regional    ? ", in marked regions"
                     : execution == Execution::cudagraph ? ", as a CUDA graph"
                                                         : "");
}

}  // namespace jointer
