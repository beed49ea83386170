// CUDA's errors reach the runner with their code, as c10::AcceleratorError. The refusals of torch
// itself, and CUDA's errors that another library reports (NCCL, the driver's interface), have only
// a message.

#include "app/runner/support/recording_error.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "app/runner/support/torch_error.h"

namespace jointer::runner {
namespace {

// Parts of torch 2.15's messages, in this order: assertNotCapturing
// (ATen/cuda/CUDAGraphsUtils.cuh) and copies to memory that is not pinned;
// errorIfCapturingCudnnBenchmark (the same file); two messages of ATen/cuda/CUDAGeneratorImpl.cpp;
// CTCLoss; errorIfCapturingNonCapturableNCCL.
constexpr std::array<std::string_view, 6> kTexts{
    " during CUDA graph capture",
    "Current cudaStreamCaptureStatus: ",
    "can be called during stream capture only if",
    "RNG op during graph capture",
    "CTCLoss cannot be graph captured",
    "Capturing NCCL collectives is only allowed",
};

// The messages that cudaGetErrorString returns for the codes from kFirstCaptureError on (libcudart
// 13).
constexpr std::array<std::string_view, 9> kTextsOfCuda{
    "operation not permitted when stream is capturing",
    "operation failed due to a previous error during capture",
    "operation would result in a merge of separate capture sequences",
    "capture was not ended in the same stream as it began",
    "capturing stream has unjoined work",
    "dependency created on uncaptured work in another stream",
    "operation would make the legacy stream depend on a capturing blocking stream",
    "operation not permitted on an event last recorded in a capturing stream",
    "attempt to terminate a thread-local capture sequence from another thread",
};
static_assert(kTextsOfCuda.size() == std::size_t{kLastCaptureError - kFirstCaptureError + 1});

}  // namespace

bool refuses_recording(const c10::Error& error) {
  if (const auto* of_device = dynamic_cast<const c10::AcceleratorError*>(&error)) {
    const std::int32_t code = of_device->get_error_code();
    return code >= kFirstCaptureError && code <= kLastCaptureError;
  }
  const std::string_view text = error.what_without_backtrace();
  const auto contains = [text](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  };
  return std::ranges::any_of(kTexts, contains) || std::ranges::any_of(kTextsOfCuda, contains);
}

std::string recording_problem(std::string_view target, std::string_view text) {
  return fmt::format("{} cannot be captured as part of a CUDA graph: {}; {}", target, text,
                     kRunWithoutRecording);
}

tl::unexpected<Error> recording_error(const c10::Error& error) {
  if (!refuses_recording(error))
    return fail(Error::Kind::run, "the step cannot be captured as a CUDA graph: {}",
                summary(error));
  return fail(Error::Kind::run, "the step cannot be captured as a CUDA graph: {}; {}",
              summary(error), kRunWithoutRecording);
}

}  // namespace jointer::runner
