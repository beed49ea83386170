#include "core/bench/gpu_doubts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jointer::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

TEST(GpuDoubts, AnIdleGpuLeavesNone) {
  EXPECT_THAT(gpu_doubts({.used_bytes = 40 * kGiB}), IsEmpty());
  // A display server uses a little memory.
  EXPECT_THAT(gpu_doubts({.used_bytes = 40 * kGiB, .other_bytes = kGiB / 8}), IsEmpty());
}

TEST(GpuDoubts, MemoryErrorsMakeOutputsDoubtful) {
  EXPECT_THAT(gpu_doubts({.uncorrected_ecc_errors = 1}),
              ElementsAre(AllOf(HasSubstr("had 1 memory error that ECC could not correct"),
                                HasSubstr("outputs may be wrong"))));
  EXPECT_THAT(gpu_doubts({.uncorrected_ecc_errors = 3}),
              ElementsAre(HasSubstr("3 memory errors that ECC could not correct")));
}

TEST(GpuDoubts, OtherProcessesMakeTimesDoubtful) {
  EXPECT_THAT(gpu_doubts({.other_processes = 1, .other_bytes = 2 * kGiB}),
              ElementsAre(AllOf(StartsWith("1 other process is using the GPU at the same time, "),
                                HasSubstr("other processes use 2.00 GiB of its memory"),
                                HasSubstr("step times are doubtful"))));
  EXPECT_THAT(gpu_doubts({.other_processes = 2}),
              ElementsAre(StartsWith("2 other processes are using the GPU at the same time: ")));
  EXPECT_THAT(gpu_doubts({.other_bytes = 3 * kGiB}),
              ElementsAre(StartsWith("other processes use 3.00 GiB of the GPU's memory")));
}

}  // namespace
}  // namespace jointer::test
