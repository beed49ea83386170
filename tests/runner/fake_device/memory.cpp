// Each pool has its own model of the allocator and a range of addresses, of which the system backs
// only pages that are used. A block is at the model's address within the range, so blocks that a
// recording reuses really share memory.

#include "tests/runner/fake_device/memory.h"

#include <c10/util/Exception.h>
#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "core/base/units.h"

namespace jointer::test {
class FakeMemory::Arena {
 public:
  Arena() {
    void* mapped = ::mmap(nullptr, kRange, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    TORCH_CHECK(mapped != MAP_FAILED, "no addresses are left for a pool of the fake device");
    base_ = static_cast<std::byte*>(mapped);
  }
  ~Arena() { ::munmap(base_, kRange); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  [[nodiscard]] CudaAllocator& model() { return model_; }
  [[nodiscard]] void* data(CudaAllocator::BlockId block) const {
    const auto offset = static_cast<std::size_t>(model_.address(block));
    TORCH_CHECK(offset + static_cast<std::size_t>(model_.size(block)) <= kRange,
                "a pool of the fake device has used up its addresses");
    return base_ + offset;
  }
  // Overwrites everything.
  void poison() { std::memset(base_, 0xff, static_cast<std::size_t>(model_.reserved())); }
  [[nodiscard]] bool owns(const void* data) const {
    const auto* at = static_cast<const std::byte*>(data);
    return at >= base_ && at < base_ + kRange;
  }

 private:
  static constexpr std::size_t kRange = std::size_t{16} << 30;
  std::byte* base_ = nullptr;
  CudaAllocator model_;
};

FakeMemory::FakeMemory(std::int64_t capacity, std::function<std::int64_t()> now)
    : capacity_(capacity), limit_(capacity), now_(std::move(now)) {}

FakeMemory::~FakeMemory() = default;

std::int64_t FakeMemory::reserved() const {
  std::int64_t bytes = 0;
  for (const auto& [key, arena] : arenas_) bytes += arena->model().reserved();
  return bytes;
}

void FakeMemory::release_cache() {
  for (const auto& [key, arena] : arenas_)
    if (key.recording == 0 || forgotten_.contains(key.recording)) arena->model().release_cache();
  trace_reserved();
}

void* FakeMemory::allocate(std::int64_t bytes, PoolKey pool) {
  std::unique_ptr<Arena>& arena = arenas_[pool];
  if (!arena) arena = std::make_unique<Arena>();
  CudaAllocator& model = arena->model();
  CudaAllocator::BlockId id = model.allocate(bytes);
  if (reserved() > limit_) {
    model.free(id);
    release_cache();
    id = model.allocate(bytes);
    if (reserved() > limit_) {
      model.free(id);
      release_cache();
      fail(bytes);
    }
  }
  figures_.requested += bytes;
  figures_.allocated += model.size(id);
  figures_.peak_requested = std::max(figures_.peak_requested, figures_.requested);
  figures_.peak_allocated = std::max(figures_.peak_allocated, figures_.allocated);
  figures_.peak_reserved = std::max(figures_.peak_reserved, reserved());
  void* data = arena->data(id);
  blocks_[data] = {.arena = arena.get(), .id = id, .requested = bytes};
  trace("alloc", data, bytes);
  return data;
}

void FakeMemory::free(void* data) {
  const auto found = blocks_.find(data);
  if (found == blocks_.end()) return;  // from before the device was reset
  const Block block = found->second;
  blocks_.erase(found);
  figures_.requested -= block.requested;
  figures_.allocated -= block.arena->model().size(block.id);
  block.arena->model().free(block.id);
  trace("free_requested", data, block.requested);
  trace("free_completed", data, block.requested);
}

bool FakeMemory::owns(const void* data) const {
  return std::ranges::any_of(arenas_, [&](const auto& each) { return each.second->owns(data); });
}

void FakeMemory::poison(std::int64_t recording) {
  for (const auto& [key, arena] : arenas_)
    if (key.recording == recording) arena->poison();
}

void FakeMemory::forget_recording(std::int64_t recording) {
  forgotten_.insert(recording);
  std::erase_if(arenas_, [&](const auto& each) {
    const bool is_used = std::ranges::any_of(
        blocks_, [&](const auto& block) { return block.second.arena == each.second.get(); });
    return each.first.recording == recording && !is_used;
  });
}

bool FakeMemory::is_of_recording(const void* data, std::int64_t recording) const {
  return std::ranges::any_of(arenas_, [&](const auto& each) {
    return each.first.recording == recording && each.second->owns(data);
  });
}

void FakeMemory::reset_peaks() {
  figures_.peak_requested = figures_.requested;
  figures_.peak_allocated = figures_.allocated;
  figures_.peak_reserved = reserved();
}

void FakeMemory::keep_history(bool keeps) {
  keeps_history_ = keeps;
  history_.clear();
  traced_reserved_ = reserved();
}

void FakeMemory::trace_reserved() {
  const std::int64_t now = reserved();
  const std::int64_t change = now - std::exchange(traced_reserved_, now);
  if (!keeps_history_ || change == 0) return;
  history_.push_back({.action = change > 0 ? "segment_alloc" : "segment_free",
                      .bytes = std::abs(change),
                      .ns = now_()});
}

void FakeMemory::trace(std::string_view action, const void* data, std::int64_t bytes) {
  trace_reserved();
  if (!keeps_history_) return;
  history_.push_back({.action = std::string(action),
                      .address = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(data)),
                      .bytes = bytes,
                      .ns = now_()});
}

std::vector<SnapshotSegment> FakeMemory::segments() const {
  std::map<const Arena*, SnapshotSegment> by_arena;
  for (const auto& [key, arena] : arenas_) by_arena[arena.get()].bytes = arena->model().reserved();
  for (const auto& [data, block] : blocks_)
    by_arena[block.arena].blocks.push_back({.address = block.arena->model().address(block.id),
                                            .bytes = block.arena->model().size(block.id),
                                            .requested = block.requested});
  std::vector<SnapshotSegment> all;
  for (auto& [arena, segment] : by_arena) all.push_back(std::move(segment));
  return all;
}

// c10/cuda/CUDACachingAllocator.cpp
void FakeMemory::fail(std::int64_t bytes) {
  trace("oom", nullptr, bytes);
  snapshot_ = keeps_history_ ? pickled_snapshot(segments(), history_) : std::string();
  const std::string text = fmt::format(
      "CUDA out of memory. Tried to allocate {}. GPU 0 has a total capacity of {} of which {} is "
      "free. {} allowed; of the allocated memory {} is allocated by PyTorch, and {} is reserved by "
      "PyTorch but unallocated. If reserved but unallocated memory is large try setting "
      "PYTORCH_ALLOC_CONF=expandable_segments:True to avoid fragmentation.",
      format_bytes(bytes), format_bytes(capacity_), format_bytes(capacity_ - reserved()),
      format_bytes(limit_), format_bytes(figures_.allocated),
      format_bytes(reserved() - figures_.allocated));
  TORCH_CHECK_WITH(OutOfMemoryError, false, text);
  std::abort();  // not reached
}

}  // namespace jointer::test
