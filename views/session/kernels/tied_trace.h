#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/capture/compiled_trace.h"
#include "views/session/kernels/snapshot_kernels.h"

namespace jointer::views {

// The kernels of `base`, predicted or compiled, with the times that a trace of compiled steps
// measured. Kernels that are not in the trace have no time. `base` must not be measured. Error
// (input): no kernel of any part is in the trace.
Result<SnapshotKernelsPtr> tie_trace(const SnapshotKernels& base,
                                     const std::shared_ptr<const CompiledTrace>& trace);

// The names of the kernels that were not found in the trace, and of its calls that match no kernel.
struct UntiedNames {
  std::vector<std::string> kernels, calls;
};
// Requires `measured.is_measured()`.
UntiedNames untied_names(const SnapshotKernels& measured);

}  // namespace jointer::views
