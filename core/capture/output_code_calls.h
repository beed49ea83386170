#pragma once

// Follows the statements of a wrapper's `call`. Private to core/capture.

#include "core/base/result.h"
#include "core/capture/compiled_kernels.h"
#include "core/capture/output_code_parts.h"

namespace jointer::wrapper {

// Adds the kernels, blocks and events of the function `call`, in call order, to `program`, whose
// `sources` are those of `parts`. Functions that it calls (partitions, subgraphs) are followed
// where they are called. Error (input): `call`, or a function that it calls, is missing, or
// functions call each other too deeply.
Result<void> follow_calls(std::string_view name, const Parts& parts, CompiledProgram& program);

}  // namespace jointer::wrapper
