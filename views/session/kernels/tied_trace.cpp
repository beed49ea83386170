#include "views/session/kernels/tied_trace.h"

#include <optional>
#include <utility>
#include <vector>

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

}  // namespace jointer::views
