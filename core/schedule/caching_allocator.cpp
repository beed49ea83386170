// A model of torch's CUDACachingAllocator (c10/cuda/CUDACachingAllocator.cpp, torch 2.11), with
// default settings: no expandable segments, no split limit, no power-of-two rounding, and a device
// that never runs out, so nothing is given back.
//
// Terms
//   segment  what is taken from the device at once; it never shrinks.
//   block    a piece of a segment, allocated or free; neighbours that are both free are one block.
//   pool     small (requests up to 1 MiB) or large; a block stays in the pool of its segment.
//
// Steps, for a request already rounded up to 512 bytes
//   1. Best fit: the smallest free block of the pool that holds it, lowest address first.
//   2. Without one, a new segment: 2 MiB for small requests, 20 MiB for requests under 10 MiB, else
//      the request rounded up to 2 MiB.
//   3. The rest of the block becomes a free block if it is at least 512 bytes (small pool) or more
//      than 1 MiB (large pool); else the request keeps it all.
//   A freed block merges with free neighbours.
//
// Everything is taken on one stream: functional collectives allocate their outputs on the compute
// stream, and what the communication stream still reads is pinned by the lifetimes (rule 4 of
// lifetimes.cpp), so pools of other streams stay empty.
//
// Cost: O(s log s) for s storages.

#include "core/schedule/caching_allocator.h"

#include <algorithm>
#include <array>
#include <set>

namespace jointer {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kSmallRequest = kMiB;
constexpr std::int64_t kSmallSegment = 2 * kMiB;
constexpr std::int64_t kLargeSegment = 20 * kMiB;
constexpr std::int64_t kLargeRequest = 10 * kMiB;
constexpr std::int64_t kSegmentRounding = 2 * kMiB;
constexpr std::int64_t kSmallestRest = 512;

class CachingAllocator {
 public:
  using BlockId = std::int32_t;
  static constexpr BlockId kNone = -1;

  BlockId allocate(std::int64_t bytes) {
    const bool small = bytes <= kSmallRequest;
    auto& pool = free_[small ? 0 : 1];
    BlockId id = kNone;
    if (const auto fit = pool.lower_bound({bytes, 0, 0}); fit != pool.end()) {
      id = fit->block;
      pool.erase(fit);
    } else {
      id = add_segment(bytes, small);
    }
    split(id, bytes);
    at(id).allocated = true;
    return id;
  }

  void free(BlockId id) {
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

  [[nodiscard]] std::int64_t reserved() const { return reserved_; }

 private:
  struct Block {
    std::int64_t address = 0, size = 0;
    BlockId previous = kNone, next = kNone;  // neighbours in the segment
    bool small = false, allocated = false;
  };
  struct Free {
    std::int64_t size, address;
    BlockId block;
    friend auto operator<=>(const Free&, const Free&) = default;
  };

  Block& at(BlockId id) { return blocks_[static_cast<std::size_t>(id)]; }
  std::set<Free>& pool_of(const Block& b) { return free_[b.small ? 0 : 1]; }
  void add_to_pool(BlockId id) { pool_of(at(id)).insert({at(id).size, at(id).address, id}); }
  void remove_from_pool(BlockId id) { pool_of(at(id)).erase({at(id).size, at(id).address, id}); }

  BlockId add_segment(std::int64_t bytes, bool small) {
    const std::int64_t rounded =
        (bytes + kSegmentRounding - 1) / kSegmentRounding * kSegmentRounding;
    const std::int64_t size = small                   ? kSmallSegment
                              : bytes < kLargeRequest ? kLargeSegment
                                                      : rounded;
    blocks_.push_back({.address = reserved_, .size = size, .small = small});
    reserved_ += size;
    return static_cast<BlockId>(blocks_.size() - 1);
  }

  void split(BlockId id, std::int64_t bytes) {
    const std::int64_t rest = at(id).size - bytes;
    if (at(id).small ? rest < kSmallestRest : rest <= kSmallRequest) return;
    const auto rest_id = static_cast<BlockId>(blocks_.size());
    const Block whole = at(id);
    blocks_.push_back({.address = whole.address + bytes,
                       .size = rest,
                       .previous = id,
                       .next = whole.next,
                       .small = whole.small});
    if (whole.next != kNone) at(whole.next).previous = rest_id;
    at(id).size = bytes;
    at(id).next = rest_id;
    add_to_pool(rest_id);
  }

  void absorb_next(BlockId id) {
    const Block absorbed = at(at(id).next);
    at(id).size += absorbed.size;
    at(id).next = absorbed.next;
    if (absorbed.next != kNone) at(absorbed.next).previous = id;
  }

  std::vector<Block> blocks_;
  std::array<std::set<Free>, 2> free_;  // small, large
  std::int64_t reserved_ = 0;
};

}  // namespace

ReservedProfile simulate_reserved(const MemoryTimeline& timeline, DeviceType device) {
  ReservedProfile result;
  const auto profile = timeline.profile();
  if (device != DeviceType::cuda) {
    result.bytes.assign(profile.begin(), profile.end());
    result.peak_bytes = timeline.peak_bytes();
    return result;
  }
  // What is allocated and freed at each step, as lists of lifetimes; the start's come first.
  const auto lifetimes = timeline.lifetimes();
  const std::size_t steps = timeline.steps().size();
  std::vector<std::vector<std::size_t>> allocated(steps + 1), freed(steps);
  for (std::size_t i = 0; i < lifetimes.size(); ++i) {
    // What lives from the start has -1.
    allocated[static_cast<std::size_t>(std::int64_t{lifetimes[i].first} + 1)].push_back(i);
    if (const auto last = static_cast<std::size_t>(lifetimes[i].last); last < steps)
      freed[last].push_back(i);
  }

  CachingAllocator allocator;
  std::vector<CachingAllocator::BlockId> blocks(lifetimes.size(), CachingAllocator::kNone);
  result.bytes.reserve(profile.size());
  for (std::size_t point = 0; point <= steps; ++point) {
    for (const std::size_t i : allocated[point]) blocks[i] = allocator.allocate(lifetimes[i].bytes);
    result.bytes.push_back(allocator.reserved());
    if (point == 0) continue;
    for (const std::size_t i : freed[point - 1]) allocator.free(blocks[i]);
    result.bytes.push_back(allocator.reserved());
  }
  result.peak_bytes = *std::max_element(result.bytes.begin(), result.bytes.end());
  return result;
}

}  // namespace jointer
