#pragma once

#include "core/capture/compiled_kernels.h"
#include "core/capture/tied_kernels.h"
#include "core/compiled/compiled_part.h"
#include "core/graph/graph.h"

namespace jointer {

// The kernels of a compilation in the form of predicted ones: an op and a kernel for each call of
// the program, and a buffer for each block. Sizes of loops, and reasons not to fuse, are unknown.
// `ties`: the result of tie_kernels for the same arguments.
CompiledPart part_of_program(const Graph& graph, const CompiledProgram& program, PartId part,
                             TiedKernels ties);

}  // namespace jointer
