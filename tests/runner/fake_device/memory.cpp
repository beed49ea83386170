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

#include "core/base/units.h"

namespace jointer::test {
namespace {

constexpr std::int64_t kRounding = 512;

std::int64_t rounded(std::int64_t bytes) {
  return (bytes + kRounding - 1) / kRounding * kRounding;
}

}  // namespace

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

FakeMemory::FakeMemory(std::int64_t capacity) : capacity_(capacity), limit_(capacity) {}

FakeMemory::~FakeMemory() = default;

std::int64_t FakeMemory::reserved() const {
  std::int64_t bytes = 0;
  for (const auto& [key, arena] : arenas_) bytes += arena->model().reserved();
  return bytes;
}

void FakeMemory::release_cache() {
  for (const auto& [key, arena] : arenas_) arena->model().release_cache();
}

void* FakeMemory::allocate(std::int64_t bytes, PoolKey pool) {
  std::unique_ptr<Arena>& arena = arenas_[pool];
  if (!arena) arena = std::make_unique<Arena>();
  CudaAllocator& model = arena->model();
  CudaAllocator::BlockId id = model.allocate(rounded(bytes));
  if (reserved() > limit_) {
    model.free(id);
    release_cache();
    id = model.allocate(rounded(bytes));
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
}

bool FakeMemory::owns(const void* data) const {
  return std::ranges::any_of(arenas_, [&](const auto& each) { return each.second->owns(data); });
}

void FakeMemory::poison(std::int64_t recording) {
  for (const auto& [key, arena] : arenas_)
    if (key.recording == recording) arena->poison();
}

void FakeMemory::forget_recording(std::int64_t recording) {
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

// c10/cuda/CUDACachingAllocator.cpp
void FakeMemory::fail(std::int64_t bytes) const {
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
