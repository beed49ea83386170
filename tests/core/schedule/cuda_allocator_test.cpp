// The model of the caching allocator, request by request. memory_timeline_test.cpp tests it on
// whole graphs.

#include "core/schedule/cuda_allocator.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace jointer::test {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

TEST(CudaAllocator, UsesTheSegmentSizesOfTorch) {
  CudaAllocator allocator;
  allocator.allocate(512);
  EXPECT_EQ(allocator.reserved(), 2 * kMiB);
  allocator.allocate(2 * kMiB);
  EXPECT_EQ(allocator.reserved(), 22 * kMiB);
  allocator.allocate(31 * kMiB);
  EXPECT_EQ(allocator.reserved(), 54 * kMiB);
}

TEST(CudaAllocator, AnExpandableSegmentGrowsByPages) {
  CudaAllocator allocator({.expandable_segments = true});
  const auto first = allocator.allocate(30 * kMiB);
  EXPECT_EQ(allocator.reserved(), 40 * kMiB);
  // 10 MiB are free at the end: 5 are missing, so a page is added.
  allocator.allocate(15 * kMiB);
  EXPECT_EQ(allocator.reserved(), 60 * kMiB);
  allocator.free(first);
  // The end could grow, so the hole is used, though it is larger than the end.
  allocator.allocate(10 * kMiB);
  allocator.allocate(20 * kMiB);
  EXPECT_EQ(allocator.reserved(), 60 * kMiB);
  allocator.allocate(15 * kMiB);
  EXPECT_EQ(allocator.reserved(), 60 * kMiB);
}

// Two freed neighbors merge: a request that fits neither fits the merged block.
TEST(CudaAllocator, FreedNeighborsAreOneBlock) {
  for (const bool expandable : {false, true}) {
    CudaAllocator allocator({.expandable_segments = expandable});
    const auto a = allocator.allocate(10 * kMiB);
    const auto b = allocator.allocate(10 * kMiB);
    allocator.allocate(20 * kMiB);
    const std::int64_t reserved = allocator.reserved();
    if (!expandable) continue;  // separate segments have no neighbors
    allocator.free(a);
    allocator.free(b);
    allocator.allocate(20 * kMiB);
    EXPECT_EQ(allocator.reserved(), reserved);
  }
}

// Only segments without allocated blocks are returned.
TEST(CudaAllocator, ReturnsFreeSegmentsOnRequest) {
  CudaAllocator allocator;
  const auto small = allocator.allocate(512);
  const auto large = allocator.allocate(2 * kMiB);
  const auto own_segment = allocator.allocate(30 * kMiB);
  const std::int64_t address = allocator.address(own_segment);
  allocator.free(large);
  allocator.free(own_segment);
  EXPECT_EQ(allocator.reserved(), 52 * kMiB);
  allocator.release_cache();
  EXPECT_EQ(allocator.reserved(), 2 * kMiB);
  EXPECT_NE(allocator.address(allocator.allocate(30 * kMiB)), address);
  EXPECT_EQ(allocator.reserved(), 32 * kMiB);
  allocator.free(small);
  allocator.release_cache();
  EXPECT_EQ(allocator.reserved(), 30 * kMiB);
}

// A rest that is too small for the pool stays with its block.
TEST(CudaAllocator, ABlockMayBeLargerThanItsRequest) {
  CudaAllocator allocator;
  EXPECT_EQ(allocator.size(allocator.allocate(30 * kMiB - 512)), 30 * kMiB);
  EXPECT_EQ(allocator.size(allocator.allocate(1024)), 1024);
}

TEST(CudaAllocator, RoundsRequests) {
  CudaAllocator allocator;
  EXPECT_EQ(allocator.size(allocator.allocate(100)), 512);
  EXPECT_EQ(allocator.size(allocator.allocate(513)), 1024);
  // The rounded requests fill the segment of 2 MiB.
  allocator.allocate(kMiB - 100);
  EXPECT_EQ(allocator.reserved(), 2 * kMiB);
  allocator.allocate(kMiB - 1536);
  EXPECT_EQ(allocator.reserved(), 2 * kMiB);
  allocator.allocate(1);
  EXPECT_EQ(allocator.reserved(), 4 * kMiB);
}

// For any requests: live blocks do not overlap, reserved memory covers them and never shrinks, and
// once everything is freed, a request that succeeded before succeeds again without reserving more.
RC_GTEST_PROP(CudaAllocatorProperty, ReservedCoversLiveBlocks, (bool expandable)) {
  CudaAllocator allocator({.expandable_segments = expandable});
  std::map<CudaAllocator::BlockId, std::int64_t> live;
  std::int64_t bytes = 0, reserved = 0, largest = 0;
  const auto requests = *rc::gen::container<std::vector<int>>(rc::gen::inRange(-50, 100'000));
  for (const int request : requests) {
    if (request <= 0) {
      if (live.empty()) continue;
      auto freed = live.begin();
      std::advance(
          freed, static_cast<std::ptrdiff_t>(-request) % static_cast<std::ptrdiff_t>(live.size()));
      allocator.free(freed->first);
      bytes -= freed->second;
      live.erase(freed);
    } else {
      const std::int64_t size = std::int64_t{request} * 512;
      RC_ASSERT(live.emplace(allocator.allocate(size), size).second);
      bytes += size;
      largest = std::max(largest, size);
    }
    RC_ASSERT(allocator.reserved() >= bytes);
    RC_ASSERT(allocator.reserved() >= reserved);
    reserved = allocator.reserved();
  }
  std::map<std::int64_t, std::int64_t> ends;  // by address
  for (const auto& [block, size] : live) {
    const std::int64_t address = allocator.address(block);
    RC_ASSERT(ends.emplace(address, address + allocator.size(block)).second);
  }
  for (auto it = ends.begin(); it != ends.end(); ++it)
    RC_ASSERT(std::next(it) == ends.end() || it->second <= std::next(it)->first);
  for (const auto& [block, size] : live) allocator.free(block);
  if (largest == 0) return;
  allocator.free(allocator.allocate(largest));
  RC_ASSERT(allocator.reserved() == reserved);
}

}  // namespace
}  // namespace jointer::test
