#include "app/runner/memory/counting_allocator.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace jointer::runner {
namespace {

TEST(CountingAllocator, CountsToTheByte) {
  CountingAllocator& allocator = CountingAllocator::install();
  allocator.start_from_here();
  at::Tensor a = at::empty({100}, at::kFloat);
  EXPECT_EQ(allocator.allocated(), 400);
  at::Tensor b = at::empty({3}, at::kByte);
  EXPECT_EQ(allocator.allocated(), 403);
  a.reset();
  EXPECT_EQ(allocator.allocated(), 3);
  EXPECT_EQ(allocator.peak(), 403);
  allocator.reset_peak();
  EXPECT_EQ(allocator.peak(), 3);
}

TEST(CountingAllocator, RecordsAllocatedBytesOverTime) {
  CountingAllocator& allocator = CountingAllocator::install();
  allocator.start_from_here();
  const at::Tensor a = at::empty({100}, at::kByte);
  allocator.start_recording();
  at::Tensor b = at::empty({20}, at::kByte);
  b.reset();
  const std::vector<MeasuredBytes> recorded = allocator.stop_recording();
  const at::Tensor c = at::empty({7}, at::kByte);
  std::vector<std::int64_t> bytes;
  for (const MeasuredBytes& sample : recorded) bytes.push_back(sample.bytes);
  EXPECT_EQ(bytes, (std::vector<std::int64_t>{100, 120, 100, 100}));
  for (std::size_t i = 1; i < recorded.size(); ++i) EXPECT_GE(recorded[i].ns, recorded[i - 1].ns);
  allocator.start_recording();
  EXPECT_EQ(allocator.stop_recording().size(), 2U);
}

TEST(CountingAllocator, ViewsCountOnce) {
  CountingAllocator& allocator = CountingAllocator::install();
  allocator.start_from_here();
  const at::Tensor a = at::empty({8, 8}, at::kDouble);
  const at::Tensor view = a.t().narrow(0, 2, 3);
  EXPECT_EQ(allocator.allocated(), 512);
}

TEST(CountingAllocator, ReleasesOfEarlierAllocationsDoNotCount) {
  CountingAllocator& allocator = CountingAllocator::install();
  at::Tensor before = at::empty({1000}, at::kFloat);
  allocator.start_from_here();
  const at::Tensor after = at::empty({10}, at::kFloat);
  before.reset();
  EXPECT_EQ(allocator.allocated(), 40);
}

TEST(CountingAllocator, CopiesMadeToMeasureDoNotCount) {
  CountingAllocator& allocator = CountingAllocator::install();
  allocator.start_from_here();
  at::Tensor kept;
  {
    const Uncounted uncounted;
    kept = at::empty({1000}, at::kFloat);
  }
  EXPECT_EQ(allocator.allocated(), 0);
  kept.reset();
  EXPECT_EQ(allocator.allocated(), 0);
}

TEST(CountingAllocator, TheLimitRaisesTorchsOutOfMemory) {
  CountingAllocator& allocator = CountingAllocator::install();
  allocator.start_from_here();
  allocator.limit(1000);
  EXPECT_NO_THROW(at::empty({1000}, at::kByte));
  EXPECT_THROW(at::empty({1001}, at::kByte), c10::OutOfMemoryError);
  constexpr std::int64_t kLimit = std::int64_t{1} << 20;
  allocator.limit(kLimit);
  try {
    const at::Tensor tensor = at::empty({kLimit + 1}, at::kByte);
    ADD_FAILURE() << "the allocation exceeds the limit";
  } catch (const c10::OutOfMemoryError& error) {
    EXPECT_NE(std::string(error.what_without_backtrace())
                  .find("1.000001 MiB in total would exceed the memory limit of 1.000000 MiB"),
              std::string::npos)
        << error.what_without_backtrace();
  }
  allocator.limit(0);
  EXPECT_EQ(allocator.allocated(), 0);
}

// Ranks hold inputs and copies that do not count, but fill the machine all the same.
TEST(CountingAllocator, TheShareHoldsForAllAllocations) {
  CountingAllocator& allocator = CountingAllocator::install();
  at::Tensor before = at::empty({500}, at::kByte);
  allocator.start_from_here();
  const Uncounted uncounted;
  allocator.set_share(allocator.live() + 1000);
  at::Tensor first = at::empty({600}, at::kByte);
  EXPECT_THROW(at::empty({401}, at::kByte), c10::OutOfMemoryError);
  try {
    at::empty({401}, at::kByte);
  } catch (const c10::OutOfMemoryError& error) {
    EXPECT_NE(std::string(error.what()).find("this rank's share"), std::string::npos);
  }
  before.reset();
  EXPECT_NO_THROW(at::empty({900}, at::kByte));
  EXPECT_THROW(at::empty({901}, at::kByte), c10::OutOfMemoryError);
  allocator.set_share(0);
  EXPECT_EQ(allocator.allocated(), 0);
}

TEST(CountingAllocator, CountsFromAnyThread) {
  CountingAllocator& allocator = CountingAllocator::install();
  allocator.start_from_here();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 1000; ++i) at::empty({64}, at::kByte);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(allocator.allocated(), 0);
  EXPECT_GE(allocator.peak(), 64);
  EXPECT_LE(allocator.peak(), 4 * 64);
}

}  // namespace
}  // namespace jointer::runner
