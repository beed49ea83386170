#include "app/runner/support/recording_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace jointer::runner {
namespace {

using testing::HasSubstr;
using testing::Not;

c10::SourceLocation here() {
  return {__func__, __FILE__, __LINE__};
}

constexpr std::int32_t kAssertion = 710;  // cudaErrorAssert

c10::AcceleratorError of_cuda(std::int32_t code, std::string text) {
  return {here(), code, std::move(text)};
}

c10::Error of_torch(std::string text) {
  return {here(), std::move(text)};
}

TEST(RecordingError, CudasCodesSayThatAStreamIsBeingCaptured) {
  EXPECT_TRUE(refuses_recording(of_cuda(kFirstCaptureError, "CUDA error: in another language")));
  EXPECT_TRUE(refuses_recording(of_cuda(kLastCaptureError, "CUDA error")));
  EXPECT_FALSE(refuses_recording(of_cuda(kFirstCaptureError - 1, "CUDA error")));
  EXPECT_FALSE(refuses_recording(of_cuda(kLastCaptureError + 1, "CUDA error: timed out")));
}

TEST(RecordingError, AnotherErrorThatMentionsACaptureIsNone) {
  EXPECT_FALSE(refuses_recording(of_cuda(kAssertion, "CUDA error: assert in captured_kernel")));
  EXPECT_FALSE(refuses_recording(of_torch("shape '[2]' is invalid for input captured_0")));
}

TEST(RecordingError, TorchAndLibrariesHaveOnlyTexts) {
  for (const char* text :
       {"Cannot copy between CPU and CUDA tensors during CUDA graph capture unless the CPU tensor "
        "is pinned.",
        "Cannot call CUDAGeneratorImpl::current_seed during CUDA graph capture. If you need this "
        "call to be captured, please file an issue.",
        "CUDAGeneratorImpl::set_current_seed can be called during stream capture only if new seed "
        "is the same as the original seed.",
        "Capturing NCCL collectives is only allowed with NCCL >= 2.9.6",
        "NCCL error\nLast error:\nCuda failure 'operation not permitted when stream is capturing'"})
    EXPECT_TRUE(refuses_recording(of_torch(text))) << text;
}

TEST(RecordingError, OnlyARefusalAdvisesToRunWithoutRecording) {
  const auto refused = recording_error(of_cuda(kFirstCaptureError, "CUDA error: not permitted"));
  EXPECT_THAT(refused.value().message, HasSubstr("CUDA error: not permitted; run it without"));
  const auto failed = recording_error(of_cuda(kAssertion, "CUDA error: assert\nin a capture"));
  EXPECT_EQ(failed.value().message,
            "the step cannot be captured as a CUDA graph: CUDA error: assert");
  EXPECT_THAT(failed.value().message, Not(HasSubstr("without")));
}

}  // namespace
}  // namespace jointer::runner
