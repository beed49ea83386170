#pragma once

// The memory of a simulated device: host memory behind the model of torch's caching allocator
// (core/schedule/cuda_allocator.h), so that all numbers are CUDA's.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/runner/platform.h"
#include "core/schedule/cuda_allocator.h"
#include "tests/runner/fake_device/memory_history.h"

namespace jointer::test {

// Blocks are reused only within a pool: one per stream, and others for each recording.
struct PoolKey {
  std::int64_t stream = 0;
  std::int64_t recording = 0;  // 0: none
  friend auto operator<=>(const PoolKey&, const PoolKey&) = default;
};

class FakeMemory {
 public:
  // `now`: the device's time in nanoseconds, for the history.
  FakeMemory(std::int64_t capacity, std::function<std::int64_t()> now);
  ~FakeMemory();
  FakeMemory(const FakeMemory&) = delete;
  FakeMemory& operator=(const FakeMemory&) = delete;

  // `bytes`: not zero. Throws c10::OutOfMemoryError with CUDA's message if the reserved memory
  // would exceed the limit even without cached segments.
  void* allocate(std::int64_t bytes, PoolKey pool);
  void free(void* data);
  // True if `data` is in this memory, allocated or not.
  [[nodiscard]] bool owns(const void* data) const;
  [[nodiscard]] bool is_of_recording(const void* data, std::int64_t recording) const;
  // A recording keeps its cached segments, since replays use them.
  void release_cache();
  // Overwrites the pools of a recording with NaN: what it captured has not run.
  void poison(std::int64_t recording);
  // Ends a recording: its cached segments can be released. Frees its address space, unless blocks
  // are in use.
  void forget_recording(std::int64_t recording);
  void limit(std::int64_t bytes) { limit_ = bytes; }
  // As Platform::keep_history and memory_snapshot.
  void keep_history(bool keeps);
  [[nodiscard]] const std::string& snapshot() const { return snapshot_; }
  void reset_peaks();
  [[nodiscard]] runner::MemoryFigures figures() const { return figures_; }
  [[nodiscard]] std::int64_t reserved() const;
  [[noreturn]] void fail(std::int64_t bytes);

 private:
  class Arena;
  struct Block {
    Arena* arena = nullptr;
    CudaAllocator::BlockId id = CudaAllocator::kNone;
    std::int64_t requested = 0;
  };

  // Adds an event to the history, after changes of the reserved bytes since the last one.
  void trace(std::string_view action, const void* data, std::int64_t bytes);
  void trace_reserved();
  [[nodiscard]] std::vector<SnapshotSegment> segments() const;

  std::int64_t capacity_, limit_;
  std::function<std::int64_t()> now_;
  bool keeps_history_ = false;
  std::vector<TracedEvent> history_;
  std::int64_t traced_reserved_ = 0;  // the reserved bytes at the end of the history
  std::string snapshot_;
  std::map<PoolKey, std::unique_ptr<Arena>> arenas_;
  std::set<std::int64_t> forgotten_;  // recordings that have ended
  std::map<const void*, Block> blocks_;
  runner::MemoryFigures figures_;
};

}  // namespace jointer::test
