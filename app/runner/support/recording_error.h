#pragma once

// Errors of a step that cannot be captured as a CUDA graph, in the same words on every platform.

#include <fmt/core.h>

#include <string>
#include <string_view>

#include "app/runner/support/torch_error.h"
#include "core/base/result.h"

namespace jointer::runner {

inline constexpr std::string_view kRunWithoutRecording =
    "run it without CUDA graphs: leave out the pass cudagraph, or replace --backend cudagraph with "
    "--backend interpret";

// True for the texts with which CUDA and torch refuse a call because its stream is being captured.
inline bool refuses_recording(std::string_view text) {
  return text.find("captur") != std::string_view::npos;
}

// The problem of one call. `target`: its operator; `text`: torch's message.
inline std::string recording_problem(std::string_view target, std::string_view text) {
  return fmt::format("{} cannot be captured as part of a CUDA graph: {}; {}", target, text,
                     kRunWithoutRecording);
}

// The error (run) of a step outside its calls.
inline tl::unexpected<Error> recording_error(const c10::Error& error) {
  return fail(Error::Kind::run, "the step cannot be captured as a CUDA graph: {}; {}",
              summary(error), kRunWithoutRecording);
}

}  // namespace jointer::runner
