#pragma once

// Errors of a step that cannot be captured as a CUDA graph, in the same words on every platform.

#include <c10/util/Exception.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace jointer::runner {

inline constexpr std::string_view kRunWithoutRecording =
    "run it without CUDA graphs: leave out the pass cudagraph, or replace --backend cudagraph with "
    "--backend interpret";

// CUDA's codes from cudaErrorStreamCaptureUnsupported to cudaErrorStreamCaptureWrongThread. They
// are repeated here because only the platform for CUDA includes CUDA's headers.
inline constexpr std::int32_t kFirstCaptureError = 900, kLastCaptureError = 908;

// True if CUDA or torch refused a call because its stream is being captured.
bool refuses_recording(const c10::Error& error);

// The problem of one call. `target`: its operator; `text`: torch's message.
std::string recording_problem(std::string_view target, std::string_view text);

// The error (run) of a capture that failed outside the calls of its step, for example at its end.
tl::unexpected<Error> recording_error(const c10::Error& error);

}  // namespace jointer::runner
