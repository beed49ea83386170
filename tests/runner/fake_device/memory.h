#pragma once

// The memory of a simulated device: host memory behind the model of torch's caching allocator
// (core/schedule/cuda_allocator.h), so that all numbers are CUDA's.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "app/runner/platform.h"
#include "core/schedule/cuda_allocator.h"

namespace jointer::test {

// Blocks are reused only within a pool: one per stream, and others for each recording.
struct PoolKey {
  std::int64_t stream = 0;
  std::int64_t recording = 0;  // 0: none
  friend auto operator<=>(const PoolKey&, const PoolKey&) = default;
};

class FakeMemory {
 public:
  explicit FakeMemory(std::int64_t capacity);
  ~FakeMemory();
  FakeMemory(const FakeMemory&) = delete;
  FakeMemory& operator=(const FakeMemory&) = delete;

  // `bytes`: not zero. Throws c10::OutOfMemoryError with CUDA's message if the reserved memory would
  // exceed the limit even without cached segments.
  void* allocate(std::int64_t bytes, PoolKey pool);
  void free(void* data);
  // True if `data` is in this memory, allocated or not.
  [[nodiscard]] bool owns(const void* data) const;
  [[nodiscard]] bool is_of_recording(const void* data, std::int64_t recording) const;
  void release_cache();
  // Overwrites the pools of a recording with NaN: what it captured has not run.
  void poison(std::int64_t recording);
  // Frees the address space of a recording, of which no block may be in use.
  void forget_recording(std::int64_t recording);
  void limit(std::int64_t bytes) { limit_ = bytes; }
  void reset_peaks();
  [[nodiscard]] runner::MemoryFigures figures() const { return figures_; }
  [[nodiscard]] std::int64_t reserved() const;
  [[noreturn]] void fail(std::int64_t bytes) const;

 private:
  class Arena;
  struct Block {
    Arena* arena = nullptr;
    CudaAllocator::BlockId id = CudaAllocator::kNone;
    std::int64_t requested = 0;
  };

  std::int64_t capacity_, limit_;
  std::map<PoolKey, std::unique_ptr<Arena>> arenas_;
  std::map<const void*, Block> blocks_;
  runner::MemoryFigures figures_;
};

}  // namespace jointer::test
