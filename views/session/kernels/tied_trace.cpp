#include "views/session/kernels/tied_trace.h"

#include <cstddef>
#include <optional>
#include <set>
#include <utility>

#include "core/base/index.h"

namespace jointer::views {
namespace {

Result<MeasuredKernels> tie_part(const SnapshotKernels& base, std::size_t index,
                                 const CompiledTrace& trace) {
  if (base.is_compiled()) return tie_measured(trace, *base.compilations()[index].program);
  const CompiledPart& part = base.parts()[index];
  return tie_measured(trace, base.snapshot()->graph, part.ir, part.scheduled);
}

// A part that is not in the trace has no measured kernels.
MeasuredKernels not_measured(const CompiledPart& part) {
  MeasuredKernels nothing;
  nothing.kernels.resize(part.scheduled.kernels.size());
  for (std::size_t i = 0; i < nothing.kernels.size(); ++i)
    if (kernels::is_launch(part.scheduled.kernels[i].kind)) nothing.untied_kernels.push_back(i);
  return nothing;
}

}  // namespace

Result<SnapshotKernelsPtr> tie_trace(const SnapshotKernels& base,
                                     const std::shared_ptr<const CompiledTrace>& trace) {
  std::vector<PartMeasurement> measurements;
  std::optional<Error> problem;
  bool is_found = false;
  for (std::size_t i = 0; i < base.parts().size(); ++i) {
    Result<MeasuredKernels> ties = tie_part(base, i, *trace);
    is_found = is_found || ties;
    if (!ties && !problem) problem = ties.error();
    measurements.push_back({trace, ties ? *std::move(ties) : not_measured(base.parts()[i])});
  }
  if (!is_found && problem) return tl::unexpected<Error>(*std::move(problem));
  return std::make_shared<const SnapshotKernels>(base.snapshot(), base.parts(), base.compilations(),
                                                 std::move(measurements));
}

UntiedNames untied_names(const SnapshotKernels& measured) {
  UntiedNames untied;
  for (std::size_t row = 0; row < measured.rows().size(); ++row) {
    const KernelRow& at = measured.rows()[row];
    const std::vector<KernelMeasurement>& ties = measured.measurement_of(row)->ties.kernels;
    // A kernel without a time may have been found (KernelMeasurement::ns).
    if (at.launches && ties[as_index(at.kernel)].by == TiedBy::nothing)
      untied.kernels.push_back(measured.names()[row]);
  }
  // Without marks, both halves of a pair are in one graph of the trace.
  std::set<std::pair<std::size_t, std::size_t>> tied, named;
  for (const PartMeasurement& each : measured.measurements())
    for (const KernelMeasurement& kernel : each.ties.kernels)
      for (const std::size_t call : kernel.calls) tied.emplace(each.ties.graph, call);
  for (const PartMeasurement& each : measured.measurements()) {
    const TracedGraph& graph = each.graph();
    for (const std::size_t index : each.ties.untied_calls) {
      const std::pair place(each.ties.graph, index);
      if (tied.contains(place) || !named.insert(place).second) continue;
      const TracedCall& call = graph.calls[index];
      untied.calls.push_back(call.name.empty() ? graph.launches[call.first].name : call.name);
    }
  }
  return untied;
}

}  // namespace jointer::views
