#pragma once

// The host's memory as torch asks for it, counted to the byte.

#include <c10/core/Allocator.h>

#include <atomic>
#include <cstdint>

namespace jointer::runner {

// What libtorch's own CPU allocator gives, with a count of what is out. Safe to use from any
// thread: Gloo's own allocate too.
class CountingAllocator final : public c10::Allocator {
 public:
  // The one that torch asks from now on, for the life of the process. Blocks that were handed out
  // before go back to where they came from.
  static CountingAllocator& install();

  c10::DataPtr allocate(std::size_t bytes) override;
  [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override;
  void copy_data(void* dest, const void* src, std::size_t count) const override;

  [[nodiscard]] std::int64_t allocated() const { return allocated_.load(); }
  [[nodiscard]] std::int64_t peak() const { return peak_.load(); }
  void reset_peak() { peak_.store(allocated_.load()); }
  // What is out now does not count from here on, though it may be freed later: what a program is
  // made of, before its inputs are there.
  void start_from_here() {
    allocated_.store(0);
    peak_.store(0);
    ++epoch_;
  }
  // Allocations that would take more in all fail as torch's out of memory; 0: never. `whose` says
  // in the message where the limit is from: a literal.
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

// Allocations of this thread do not count while it lives: copies that the measuring itself keeps.
class Uncounted {
 public:
  Uncounted();
  ~Uncounted();
  Uncounted(const Uncounted&) = delete;
  Uncounted& operator=(const Uncounted&) = delete;
};

}  // namespace jointer::runner
