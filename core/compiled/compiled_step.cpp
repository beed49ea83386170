#include "core/compiled/compiled_step.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "core/base/counted.h"
#include "core/compiled/compiled_calls.h"
#include "core/compiled/compiled_lives.h"
#include "core/compiled/regions.h"
#include "core/graph/title_in_text.h"
#include "core/graph/torch_version.h"

namespace jointer {
namespace {

using IsCancelled = std::function<bool()>;

Result<void> check_cancelled(const IsCancelled& is_cancelled) {
  if (is_cancelled && is_cancelled()) return fail(Error::Kind::cancelled, "cancelled");
  return {};
}

Result<std::vector<CompiledPart>> parts_of(const Graph& graph, Execution execution,
                                           const IsCancelled& is_cancelled) {
  std::vector<CompiledPart> parts;
  if (execution == Execution::regional) {
    for (const Region& region : find_regions(graph)) {
      JOINTER_TRY(parts.emplace_back(), compile_region(graph, region, is_cancelled));
    }
    return parts;
  }
  for (std::size_t part = 0; part < graph.part_count(); ++part) {
    JOINTER_TRY(parts.emplace_back(), compile_part(graph, PartId(part), is_cancelled));
  }
  return parts;
}

// Replaces estimates with measured times, of kernels and of the collectives that they start.
// Returns the number of kernels that launch work, and the number of those that were measured.
std::pair<std::size_t, std::size_t> use_measured(const Graph& graph,
                                                 const MeasuredKernelTimes& measured,
                                                 CompiledStep& step, std::vector<NodeCost>& costs) {
  std::size_t launches = 0, known = 0;
  for (std::size_t part = 0; part < step.parts.size(); ++part) {
    const std::vector<kernels::Kernel>& kernels = step.parts[part].scheduled.kernels;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      kernels::KernelTime& time = step.times[part][i];
      if (!time.is_launch) continue;
      ++launches;
      const bool is_known = part < measured.ns.size() && i < measured.ns[part].size() &&
                            measured.ns[part][i].has_value();
      if (!is_known) continue;
      ++known;
      time.ns = *measured.ns[part][i];
      time.limit = NodeCost::Limit::given;
      time.roofline_ns = std::min(time.roofline_ns, time.ns);
      if (kernels[i].kind != kernels::Kernel::Kind::collective) continue;
      for (const NodeId id : kernels[i].nodes) {
        if (!graph.is_collective_start(graph.node(id))) continue;
        costs[id.index()].ns = time.ns;
        costs[id.index()].limit = NodeCost::Limit::given;
      }
    }
  }
  return {launches, known};
}

}  // namespace

Result<void> check_execution(const Graph& graph, Execution execution) {
  if (execution == Execution::cudagraph && graph.main_device() == DeviceType::cpu)
    return fail(Error::Kind::usage,
                "{} runs on the CPU, which has no CUDA graphs; choose `inductor` instead",
                title_in_text(graph));
  if (execution == Execution::regional && find_regions(graph).empty())
    return fail(Error::Kind::usage,
                "no call of {} is marked with compile_with_inductor, so there is no region to "
                "compile; mark calls with the pass annotate_flex_attention_for_regional_inductor "
                "or annotate_rmsnorm_for_regional_inductor, or choose `inductor`, which compiles "
                "the whole graph",
                title_in_text(graph));
  return {};
}

Result<Analysis> analyze_step(const Graph& graph, const AnalysisOptions& options,
                              const MeasuredKernelTimes* measured,
                              const IsCancelled& is_cancelled) {
  JOINTER_CHECK(check_cancelled(is_cancelled));
  JOINTER_TRY(AnalysisBasis basis, analysis_basis(graph, options));
  JOINTER_CHECK(check_cancelled(is_cancelled));
  const Execution execution = options.execution;
  if (execution == Execution::eager) return Analysis(std::move(basis), graph);
  auto step = std::make_shared<CompiledStep>();
  JOINTER_TRY(step->parts, parts_of(graph, execution, is_cancelled));
  for (const CompiledPart& part : step->parts)
    step->times.push_back(
        kernels::kernel_times(graph, part.ir, part.scheduled, basis.costs, basis.device));
  std::vector<NodeCost> costs = basis.costs;
  std::string how = execution_text(graph, execution);
  if (measured != nullptr) {
    const auto [launches, known] = use_measured(graph, *measured, *step, costs);
    how += fmt::format(", {} of {} measured ({})", format_count(known), counted(launches, "kernel"),
                       measured->source);
  }
  CompiledCalls calls = compiled_calls(graph, step->parts, step->times, costs, execution);
  Graph ordered = graph;
  ordered.set_order(std::move(calls.order));
  JOINTER_CHECK(check_cancelled(is_cancelled));
  const MemoryOptions& memory = basis.options.memory;
  std::vector<Lifetime> lifetimes =
      execution == Execution::regional
          ? regional_lifetimes(graph, MemoryTimeline(ordered, memory), step->parts, calls)
          : compiled_lifetimes(graph, basis.memory, step->parts, calls);
  basis.memory = MemoryTimeline(graph, memory, std::move(calls.steps), std::move(lifetimes));
  JOINTER_CHECK(check_cancelled(is_cancelled));
  basis.operator_costs = std::exchange(basis.costs, std::move(calls.costs));
  basis.options.execution = execution;
  basis.estimator += ", " + how;
  basis.compiled = std::move(step);
  return Analysis(std::move(basis), ordered);
}

std::string execution_text(const Graph& graph, Execution execution) {
  if (execution == Execution::eager) return "one kernel per operator";
  const TorchVersion torch = torch_version_of(graph);
  return fmt::format("kernels as predicted for Inductor in torch {}.{}{}", torch.major, torch.minor,
                     execution == Execution::regional    ? ", in marked regions"
                     : execution == Execution::cudagraph ? ", as a CUDA graph"
                                                         : "");
}

}  // namespace jointer
