// Models torch's CUDACachingAllocator (c10/cuda/CUDACachingAllocator.cpp, torch 2.11), without a
// split limit or power-of-two rounding, on a device that never runs out of memory. Memory is
// therefore returned to the device only on request.
//
// Terms
//   segment  a unit of memory that is reserved from the device and returned to it; it never
//            shrinks.
//   block    a piece of a segment, allocated or free; adjacent free blocks are one block.
//   pool     small (requests up to 1 MiB) or large; a block stays in the pool of its segment.
//
// Steps, after a request is rounded up to a multiple of 512 bytes
//   1. Find the best fit: the smallest free block in the pool that is large enough or, among
//      equals, the one at the lowest address.
//   2. If there is none, reserve a new segment: 2 MiB for small requests, 20 MiB for requests under
//      10 MiB, else the request rounded up to a multiple of 2 MiB.
//   3. Split off the rest of the block as a free block if it is at least 512 bytes (small pool) or
//      more than 1 MiB (large pool); else it stays part of the allocated block.
//   A freed block merges with adjacent free blocks.
//
// With expandable segments, each pool has one segment, which grows at its end in pages of 2 MiB
// (small) or 20 MiB (large). In step 1, the free block at the end, which could grow, is used only
// if no other block is large enough. In step 2, the segment grows by the missing pages. In step 3,
// every rest of 512 bytes or more becomes a free block.
//
// Cost: O(log b) per request, for b free blocks.

#include "core/schedule/cuda_allocator.h"

#include <iterator>

#include "core/base/byte_units.h"

namespace jointer {
namespace {

constexpr std::int64_t kSmallRequest = kMiB;
constexpr std::int64_t kSmallSegment = 2 * kMiB;
constexpr std::int64_t kLargeSegment = 20 * kMiB;
constexpr std::int64_t kLargeRequest = 10 * kMiB;
constexpr std::int64_t kSegmentRounding = 2 * kMiB;
// With expandable segments, the first address of the large pool; the small pool ends far below it.
constexpr std::int64_t kLargePool = std::int64_t{1} << 52;

std::int64_t round_up(std::int64_t bytes, std::int64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

CudaAllocator::BlockId CudaAllocator::allocate(std::int64_t bytes) {
  bytes = rounded(bytes);
  const bool small = bytes <= kSmallRequest;
  BlockId id = take_free(bytes, small);
  if (id == kNone)
    id = options_.expandable_segments ? expand_segment(bytes, small) : add_segment(bytes, small);
  split(id, bytes);
  at(id).allocated = true;
  return id;
}

void CudaAllocator::free(BlockId id) {
  at(id).allocated = false;
  if (const BlockId next = at(id).next; next != kNone && !at(next).allocated) {
    remove_from_pool(next);
    absorb_next(id);
  }
  if (const BlockId previous = at(id).previous; previous != kNone && !at(previous).allocated) {
    remove_from_pool(previous);
    absorb_next(previous);
    id = previous;
  }
  add_to_pool(id);
}

void CudaAllocator::release_cache() {
  if (options_.expandable_segments) return;
  for (std::set<Free>& pool : free_)
    std::erase_if(pool, [this](const Free& free) {
      const Block& block = at(free.block);
      const bool is_whole = block.previous == kNone && block.next == kNone;
      if (is_whole) reserved_ -= block.size;
      return is_whole;
    });
}

CudaAllocator::BlockId CudaAllocator::take_free(std::int64_t bytes, bool small) {
  auto& pool = free_[small ? 0 : 1];
  auto fit = pool.lower_bound({bytes, 0, 0});
  if (fit == pool.end()) return kNone;
  if (options_.expandable_segments && fit->block == last_[small ? 0 : 1])
    if (const auto other = std::next(fit); other != pool.end()) fit = other;
  const BlockId id = fit->block;
  pool.erase(fit);
  return id;
}

CudaAllocator::BlockId CudaAllocator::add_segment(std::int64_t bytes, bool small) {
  const std::int64_t size = small                   ? kSmallSegment
                            : bytes < kLargeRequest ? kLargeSegment
                                                    : round_up(bytes, kSegmentRounding);
  blocks_.push_back({.address = next_address_, .size = size, .small = small});
  next_address_ += size;
  reserved_ += size;
  return static_cast<BlockId>(blocks_.size() - 1);
}

CudaAllocator::BlockId CudaAllocator::expand_segment(std::int64_t bytes, bool small) {
  BlockId& last = last_[small ? 0 : 1];
  const bool grows = last != kNone && !at(last).allocated;
  if (grows) {
    remove_from_pool(last);
  } else {
    const BlockId before = last;
    last = static_cast<BlockId>(blocks_.size());
    const std::int64_t address = before != kNone ? at(before).address + at(before).size
                                 : small         ? 0
                                                 : kLargePool;
    blocks_.push_back({.address = address, .size = 0, .previous = before, .small = small});
    if (before != kNone) at(before).next = last;
  }
  const std::int64_t grown = round_up(bytes - at(last).size, small ? kSmallSegment : kLargeSegment);
  at(last).size += grown;
  reserved_ += grown;
  return last;
}

void CudaAllocator::split(BlockId id, std::int64_t bytes) {
  const std::int64_t rest = at(id).size - bytes;
  const bool to_the_byte = at(id).small || options_.expandable_segments;
  if (to_the_byte ? rest < kRounding : rest <= kSmallRequest) return;
  const auto rest_id = static_cast<BlockId>(blocks_.size());
  const Block whole = at(id);
  blocks_.push_back({.address = whole.address + bytes,
                     .size = rest,
                     .previous = id,
                     .next = whole.next,
                     .small = whole.small});
  if (whole.next != kNone) at(whole.next).previous = rest_id;
  if (BlockId& last = last_[whole.small ? 0 : 1]; last == id) last = rest_id;
  at(id).size = bytes;
  at(id).next = rest_id;
  add_to_pool(rest_id);
}

void CudaAllocator::absorb_next(BlockId id) {
  const BlockId next = at(id).next;
  const Block absorbed = at(next);
  at(id).size += absorbed.size;
  at(id).next = absorbed.next;
  if (absorbed.next != kNone) at(absorbed.next).previous = id;
  if (BlockId& last = last_[absorbed.small ? 0 : 1]; last == next) last = id;
}

}  // namespace jointer
