#pragma once

// Models torch's CUDACachingAllocator to compute the bytes that it reserves from the device for a
// sequence of requests. The algorithm is at the top of cuda_allocator.cpp.

#include <array>
#include <cstdint>
#include <set>
#include <vector>

namespace jointer {

struct AllocatorOptions {
  // PYTORCH_ALLOC_CONF=expandable_segments:True, which torchtitan's run_train.sh sets.
  bool expandable_segments = false;
};

class CudaAllocator {
 public:
  using BlockId = std::int32_t;
  static constexpr BlockId kNone = -1;

  static constexpr std::int64_t kRounding = 512;
  // The bytes of the block for a request, unless the rest of a larger block stays with it.
  static constexpr std::int64_t rounded(std::int64_t bytes) {
    return (bytes + kRounding - 1) / kRounding * kRounding;
  }

  explicit CudaAllocator(const AllocatorOptions& options = {}) : options_(options) {}

  // `bytes`, which is positive, is rounded up to a multiple of 512.
  BlockId allocate(std::int64_t bytes);
  void free(BlockId block);
  // Returns segments without allocated blocks to the device, as empty_cache() does; an expandable
  // segment keeps its pages.
  void release_cache();
  // Bytes currently reserved from the device.
  [[nodiscard]] std::int64_t reserved() const { return reserved_; }
  // The address and the size of an allocated block. The block may be larger than its request.
  // Blocks that are allocated at the same time do not overlap. Addresses of a released segment are
  // not reused.
  [[nodiscard]] std::int64_t address(BlockId block) const { return at(block).address; }
  [[nodiscard]] std::int64_t size(BlockId block) const { return at(block).size; }

 private:
  struct Block {
    std::int64_t address = 0, size = 0;
    BlockId previous = kNone, next = kNone;  // neighbors in the segment
    bool small = false, allocated = false;
  };
  struct Free {
    std::int64_t size, address;
    BlockId block;
    friend auto operator<=>(const Free&, const Free&) = default;
  };

  Block& at(BlockId id) { return blocks_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] const Block& at(BlockId id) const { return blocks_[static_cast<std::size_t>(id)]; }
  std::set<Free>& pool_of(const Block& b) { return free_[b.small ? 0 : 1]; }
  void add_to_pool(BlockId id) { pool_of(at(id)).insert({at(id).size, at(id).address, id}); }
  void remove_from_pool(BlockId id) { pool_of(at(id)).erase({at(id).size, at(id).address, id}); }

  BlockId take_free(std::int64_t bytes, bool small);
  BlockId add_segment(std::int64_t bytes, bool small);
  BlockId expand_segment(std::int64_t bytes, bool small);
  void split(BlockId id, std::int64_t bytes);
  void absorb_next(BlockId id);

  AllocatorOptions options_;
  std::vector<Block> blocks_;
  std::array<std::set<Free>, 2> free_;  // small, large
  std::array<BlockId, 2> last_ = {kNone,
                                  kNone};  // with expandable segments: the last block of each pool
  std::int64_t reserved_ = 0, next_address_ = 0;
};

}  // namespace jointer
