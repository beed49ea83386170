#pragma once

// The time of a simulated device. Nothing sleeps: the host and each stream have a time in
// nanoseconds, which work and waits advance.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>

namespace jointer::test {

using StreamNumber = std::int64_t;

// The end of work that hangs.
inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

struct Span {
  std::int64_t start_ns = 0, end_ns = 0;
};

class VirtualClock {
 public:
  [[nodiscard]] std::int64_t now() const { return now_; }
  void advance(std::int64_t ns) { now_ += ns; }

  // Work of this length (or kNever) on a stream: it starts when the host has launched it and all
  // earlier work of the stream has ended.
  Span launch(StreamNumber stream, std::int64_t ns) {
    std::int64_t& tail = tails_[stream];
    const Span span{.start_ns = std::max(tail, now_),
                    .end_ns = ns == kNever || tail == kNever ? kNever : std::max(tail, now_) + ns};
    tail = span.end_ns;
    return span;
  }
  // The time at which the stream's work so far ends.
  [[nodiscard]] std::int64_t end_of(StreamNumber stream) const {
    const auto found = tails_.find(stream);
    return found == tails_.end() ? 0 : found->second;
  }
  [[nodiscard]] std::int64_t end_of_all() const {
    std::int64_t end = 0;
    for (const auto& [stream, tail] : tails_) end = std::max(end, tail);
    return end;
  }
  // Later work of the stream starts no earlier than this.
  void delay(StreamNumber stream, std::int64_t until) {
    std::int64_t& tail = tails_[stream];
    tail = std::max(tail, until);
  }
  // The host waits. kNever blocks the calling thread forever, as a device that hangs does.
  void wait(std::int64_t until);

  // The real time, which passes kHangSpeed times as fast once the host waits for kNever: tests with
  // long timeouts see hangs at once. May be called from any thread.
  [[nodiscard]] std::chrono::steady_clock::time_point real_time() const;
  static constexpr int kHangSpeed = 1000;

 private:
  std::int64_t now_ = 0;
  // Behind a pointer, since FakeDevice::reset assigns a new clock and an atomic cannot be moved.
  std::unique_ptr<std::atomic<std::chrono::steady_clock::time_point>> hung_since_ =
      std::make_unique<std::atomic<std::chrono::steady_clock::time_point>>(
          std::chrono::steady_clock::time_point::max());
  std::map<StreamNumber, std::int64_t> tails_;
};

}  // namespace jointer::test
