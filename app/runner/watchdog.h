#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace jointer::runner {

// Calls a function once, on a separate thread, if there is no progress for too long.
class Watchdog {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `life` returns the number of signs of life so far, `now` the time by which `timeout` is
  // measured. Both are called on the watchdog's thread. Starts immediately.
  Watchdog(std::chrono::milliseconds timeout, std::function<std::int64_t()> life,
           std::function<Time()> now, std::function<void()> on_silence);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch(std::chrono::milliseconds timeout);

  std::function<std::int64_t()> life_;
  std::function<Time()> now_;
  std::function<void()> on_silence_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace jointer::runner
