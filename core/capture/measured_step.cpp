#include "core/capture/measured_step.h"

#include <optional>
#include <utility>

#include "core/capture/measured_kernels.h"

namespace jointer {

Result<MeasuredKernelTimes> measured_kernel_times(const CompiledTrace& trace, const Graph& graph) {
  MeasuredKernelTimes times;
  times.source = trace.label;
  std::optional<Error> problem;
  bool is_found = false;
  for (std::size_t i = 0; i < graph.part_count(); ++i) {
    const CompiledPart part = compile_part(graph, PartId(i));
    std::vector<std::optional<std::int64_t>>& of_part = times.ns.emplace_back();
    const Result<MeasuredKernels> ties = tie_measured(trace, graph, part.ir, part.scheduled);
    if (!ties) {
      if (!problem) problem = ties.error();
      continue;
    }
    is_found = true;
    for (const KernelMeasurement& each : ties->kernels)
      of_part.push_back(each.counted_in >= 0 ? std::optional<std::int64_t>(0) : each.ns);
  }
  if (!is_found && problem) return tl::unexpected<Error>(*std::move(problem));
  return times;
}

}  // namespace jointer
