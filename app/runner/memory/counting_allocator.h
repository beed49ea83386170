#pragma once

// Host memory that torch allocates, counted to the byte.

#include <c10/core/Allocator.h>

#include <atomic>
#include <cstdint>

namespace jointer::runner {

// libtorch's own CPU allocator, with a count of allocated bytes. Safe to use from any thread, since
// Gloo's threads allocate too.
class CountingAllocator final : public c10::Allocator {
 public:
  // Makes it torch's allocator for the rest of the process. Blocks that were allocated before are
  // freed by the previous one.
  static CountingAllocator& install();

  c10::DataPtr allocate(std::size_t bytes) override;
  [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override;
  void copy_data(void* dest, const void* src, std::size_t count) const override;

  [[nodiscard]] std::int64_t allocated() const { return allocated_.load(); }
  [[nodiscard]] std::int64_t peak() const { return peak_.load(); }
  void reset_peak() { peak_.store(allocated_.load()); }
  // Stops counting what is allocated now, even if it is freed later: the program itself, before it
  // has inputs.
  void start_from_here() {
    allocated_.store(0);
    peak_.store(0);
    ++epoch_;
  }
  // Allocations that exceed this total fail with torch's out-of-memory error; 0: no limit. `whose`:
  // a literal that names the limit in the message.
  void limit(std::int64_t bytes, const char* whose) {
    limit_.store(bytes);
    whose_.store(whose);
  }

 private:
  CountingAllocator() = default;
  static void give_back(void* data);

  std::atomic<std::int64_t> allocated_{0}, peak_{0}, limit_{0};
  std::atomic<std::int64_t> epoch_{0};
  std::atomic<const char*> whose_{""};
};

// While it lives, allocations of this thread do not count: copies that only the measurement needs.
class Uncounted {
 public:
  Uncounted();
  ~Uncounted();
  Uncounted(const Uncounted&) = delete;
  Uncounted& operator=(const Uncounted&) = delete;
};

}  // namespace jointer::runner
