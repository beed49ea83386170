#include "app/runner/memory/counting_allocator.h"

#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>
#include <c10/util/Exception.h>

#include <new>

namespace jointer::runner {
namespace {

// Precedes every block, and preserves torch's alignment.
struct alignas(64) Header {
  std::int64_t bytes = 0;
  std::int64_t epoch = 0;  // -1: not counted
};

thread_local int uncounted_depth = 0;
CountingAllocator* the_allocator = nullptr;

}  // namespace

CountingAllocator& CountingAllocator::install() {
  // Never destroyed, since tensors may outlive all scopes.
  if (the_allocator == nullptr) {
    the_allocator = new CountingAllocator;
    c10::SetCPUAllocator(the_allocator, /*priority=*/100);
  }
  return *the_allocator;
}

c10::DataPtr CountingAllocator::allocate(std::size_t bytes) {
  const c10::Device cpu(c10::DeviceType::CPU);
  if (bytes == 0) return {nullptr, nullptr, &give_back, cpu};
  const auto size = static_cast<std::int64_t>(bytes);
  const bool counts = uncounted_depth == 0;
  if (counts) {
    const std::int64_t limit = limit_.load();
    const std::int64_t now = allocated_.fetch_add(size) + size;
    if (limit > 0 && now > limit) {
      allocated_.fetch_sub(size);
      TORCH_CHECK_WITH(OutOfMemoryError, false, "out of memory: ", size, " bytes are requested, ",
                       now - size, " are allocated, ", whose_.load(), " is ", limit);
    }
    std::int64_t peak = peak_.load();
    while (now > peak && !peak_.compare_exchange_weak(peak, now)) {
    }
  }
  void* block = nullptr;
  try {
    block = c10::alloc_cpu(bytes + sizeof(Header));
  } catch (const c10::Error&) {
    if (counts) allocated_.fetch_sub(size);
    TORCH_CHECK_WITH(OutOfMemoryError, false, "out of memory: the system does not provide ", size,
                     " more bytes, ", allocated_.load(), " are allocated");
  }
  new (block) Header{.bytes = size, .epoch = counts ? epoch_.load() : -1};
  void* data = static_cast<char*>(block) + sizeof(Header);
  return {data, data, &give_back, cpu};
}

void CountingAllocator::give_back(void* data) {
  if (data == nullptr) return;
  void* block = static_cast<char*>(data) - sizeof(Header);
  const Header header = *static_cast<const Header*>(block);
  if (header.epoch == the_allocator->epoch_.load())
    the_allocator->allocated_.fetch_sub(header.bytes);
  c10::free_cpu(block);
}

// For oneDNN, which allocates and frees raw pointers.
c10::DeleterFnPtr CountingAllocator::raw_deleter() const {
  return &give_back;
}

void CountingAllocator::copy_data(void* dest, const void* src, std::size_t count) const {
  default_copy_data(dest, src, count);
}

Uncounted::Uncounted() {
  ++uncounted_depth;
}
Uncounted::~Uncounted() {
  --uncounted_depth;
}

}  // namespace jointer::runner
