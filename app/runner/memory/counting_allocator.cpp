#include "app/runner/memory/counting_allocator.h"

#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>
#include <c10/util/Exception.h>
#include <fmt/core.h>

#include <array>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "core/base/distinct_bytes.h"
#include "core/base/units.h"

namespace jointer::runner {
namespace {

// Precedes every block. Its size preserves torch's alignment.
struct alignas(64) Header {
  std::int64_t bytes = 0;
  std::int64_t epoch = 0;  // -1: not counted
};

thread_local int uncounted_depth = 0;
CountingAllocator* the_allocator = nullptr;

// Adds bytes to a total, and subtracts them again unless keep() is called.
class Claim {
 public:
  Claim(std::atomic<std::int64_t>& total, std::int64_t bytes)
      : total_(total), bytes_(bytes), now_(total.fetch_add(bytes) + bytes) {}
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  ~Claim() {
    if (!is_kept_) total_.fetch_sub(bytes_);
  }

  // Throws torch's out-of-memory error if the total exceeds `limit`; 0 means no limit.
  void check(std::int64_t limit, std::string_view name) const {
    if (limit == 0 || now_ <= limit) return;
    const auto texts = distinct_bytes(std::array{now_, limit});
    fail(fmt::format("{} in total would exceed {} of {}", texts[0], name, texts[1]));
  }
  [[noreturn]] void fail(std::string_view why) const {
    const std::string text =
        fmt::format("out of memory: cannot allocate {} in addition to the {} in use: {}",
                    format_bytes(bytes_), format_bytes(now_ - bytes_), why);
    TORCH_CHECK_WITH(OutOfMemoryError, false, text);
    std::abort();  // not reached
  }
  void keep() { is_kept_ = true; }
  // The total including these bytes.
  [[nodiscard]] std::int64_t total() const { return now_; }

 private:
  std::atomic<std::int64_t>& total_;
  std::int64_t bytes_, now_;
  bool is_kept_ = false;
};

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
  Claim live(live_, size);
  live.check(share_.load(), "this rank's share of the machine's free memory");
  std::optional<Claim> counted;
  if (uncounted_depth == 0) {
    counted.emplace(allocated_, size);
    counted->check(limit_.load(), "the memory limit");
  }
  void* block = nullptr;
  try {
    block = c10::alloc_cpu(bytes + sizeof(Header));
  } catch (const c10::Error&) {
    live.fail("the operating system refused the allocation");
  }
  live.keep();
  if (counted) {
    counted->keep();
    std::int64_t peak = peak_.load();
    while (counted->total() > peak && !peak_.compare_exchange_weak(peak, counted->total())) {
    }
    record(counted->total());
  }
  new (block) Header{.bytes = size, .epoch = counted ? epoch_.load() : -1};
  void* data = static_cast<char*>(block) + sizeof(Header);
  return {data, data, &give_back, cpu};
}

void CountingAllocator::give_back(void* data) {
  if (data == nullptr) return;
  void* block = static_cast<char*>(data) - sizeof(Header);
  const Header header = *static_cast<const Header*>(block);
  the_allocator->live_.fetch_sub(header.bytes);
  if (header.epoch == the_allocator->epoch_.load())
    the_allocator->record(the_allocator->allocated_.fetch_sub(header.bytes) - header.bytes);
  c10::free_cpu(block);
}

void CountingAllocator::start_recording() {
  const std::lock_guard lock(recording_);
  recorded_.clear();
  recording_since_ = std::chrono::steady_clock::now();
  recorded_.push_back({.ns = 0, .bytes = allocated_.load()});
  is_recording_.store(true);
}

std::vector<MeasuredBytes> CountingAllocator::stop_recording() {
  record(allocated_.load());
  is_recording_.store(false);
  const std::lock_guard lock(recording_);
  return std::exchange(recorded_, {});
}

void CountingAllocator::record(std::int64_t allocated) {
  if (!is_recording_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(recording_);
  const auto since = std::chrono::steady_clock::now() - recording_since_;
  recorded_.push_back({.ns = std::chrono::duration_cast<std::chrono::nanoseconds>(since).count(),
                       .bytes = allocated});
}

// Used by oneDNN, which allocates and frees raw pointers.
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
