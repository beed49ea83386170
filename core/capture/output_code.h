#pragma once

// Reads the wrapper that Inductor writes ("output code"): Python text with the sources of kernels,
// their calls, and the allocation, reuse and release of buffers. Torch 2.11 to 2.15. The text is
// parsed and never run.

#include <string_view>

#include "core/base/result.h"
#include "core/capture/compiled_kernels.h"

namespace jointer {

// True if the text is such a wrapper.
bool is_output_code(std::string_view text);

// Returns sources, kernels, blocks and events, and the half from the AOT ID. `name` is used in
// messages. Cost: linear in the length of the text. Error (input): the function `call`, or one that
// it calls, is missing, or functions call each other too deeply.
Result<CompiledProgram> read_output_code(std::string_view name, std::string text);

}  // namespace jointer
