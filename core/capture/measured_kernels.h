#pragma once

// The measured times of kernels: ties the calls in a trace of compiled steps to the kernels of a
// compilation, or to predicted ones.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/capture/compiled_kernels.h"
#include "core/capture/compiled_trace.h"
#include "core/graph/graph.h"
#include "core/kernels/ir.h"
#include "core/kernels/kernels.h"

namespace jointer {

// How a kernel was found in the trace.
enum class TiedBy : std::uint8_t {
  nothing,    // it was not
  name,       // its name, or the name of the operator that it calls
  operators,  // for predicted kernels: the kind and operators in Inductor's name for it
  neighbors,  // the only calls between two kernels that were found
};
std::string_view to_string(TiedBy by);

struct KernelMeasurement {
  TiedBy by = TiedBy::nothing;
  std::vector<std::size_t> calls;  // indices in TracedGraph::calls
  // The sum of the calls' times. nullopt if there are no calls, and for a collective on the CPU,
  // whose call only starts it.
  std::optional<std::int64_t> ns;
  // On the CPU, the kernel whose C++ function contains this one, and whose time includes it; -1:
  // none.
  std::int32_t counted_in = -1;
};

struct MeasuredKernels {
  std::size_t graph = 0;                   // index in CompiledTrace::graphs: the one that fits best
  std::vector<KernelMeasurement> kernels;  // by kernel
  // The kernels that launch work, and the calls in the trace, that are not tied.
  std::vector<std::size_t> untied_kernels, untied_calls;

  [[nodiscard]] std::size_t tied_kernels() const;
};

// Ties the compiled graph in the trace that fits best: the first one with the most kernels found.
// Kernels and calls are tied only if their names and order leave no choice; measured_kernels.cpp
// has the rules. Error (input): none of the kernels was found in the trace.
Result<MeasuredKernels> tie_measured(const CompiledTrace& trace, const CompiledProgram& program);
// `predicted`: the kernels of `ir`, which was lowered from the graph.
Result<MeasuredKernels> tie_measured(const CompiledTrace& trace, const Graph& graph,
                                     const kernels::Ir& ir, const kernels::Kernels& predicted);

}  // namespace jointer
