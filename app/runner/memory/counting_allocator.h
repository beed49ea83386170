#pragma once

// Counts the host memory that torch allocates, to the byte.

#include <c10/core/Allocator.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/bench/event.h"

namespace jointer::runner {

// libtorch's CPU allocator, extended to count allocated bytes. Safe to use from any thread, since
// Gloo's threads also allocate.
class CountingAllocator final : public c10::Allocator {
 public:
  // Installs an instance as torch's allocator for the rest of the process. Blocks allocated earlier
  // are still freed by the previous allocator.
  static CountingAllocator& install();

  c10::DataPtr allocate(std::size_t bytes) override;
  [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override;
  void copy_data(void* dest, const void* src, std::size_t count) const override;

  [[nodiscard]] std::int64_t allocated() const { return allocated_.load(); }
  // Bytes that are allocated now, including those that do not count.
  [[nodiscard]] std::int64_t live() const { return live_.load(); }
  [[nodiscard]] std::int64_t peak() const { return peak_.load(); }
  void reset_peak() { peak_.store(allocated_.load()); }
  // Records `allocated` at each allocation and release, with the nanoseconds since the start of the
  // recording, until stop_recording. The first entry is the start, the last one the end.
  void start_recording();
  std::vector<MeasuredBytes> stop_recording();
  // Stops counting the current allocations, so that their releases do not count either.
  void start_from_here() {
    allocated_.store(0);
    peak_.store(0);
    ++epoch_;
  }
  // Counted allocations that would exceed this total fail with torch's out-of-memory error; 0 means
  // no limit.
  void limit(std::int64_t bytes) { limit_.store(bytes); }
  // A limit of the same kind for all allocations since `install`, whether they count or not: this
  // rank's share of the machine's free memory.
  void set_share(std::int64_t bytes) { share_.store(bytes); }

 private:
  CountingAllocator() = default;
  static void give_back(void* data);
  void record(std::int64_t allocated);

  std::atomic<std::int64_t> allocated_{0}, peak_{0}, limit_{0};
  std::atomic<std::int64_t> live_{0}, share_{0};  // whether counted or not
  std::atomic<std::int64_t> epoch_{0};
  std::atomic<bool> is_recording_{false};
  std::mutex recording_;  // guards the next two
  std::vector<MeasuredBytes> recorded_;
  std::chrono::steady_clock::time_point recording_since_;
};

// While this object exists, allocations of its thread do not count. Used for copies that exist only
// for the measurement.
class Uncounted {
 public:
  Uncounted();
  ~Uncounted();
  Uncounted(const Uncounted&) = delete;
  Uncounted& operator=(const Uncounted&) = delete;
};

}  // namespace jointer::runner
