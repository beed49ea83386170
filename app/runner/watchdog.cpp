#include "app/runner/watchdog.h"

#include <utility>

namespace jointer::runner {

Watchdog::Watchdog(std::chrono::milliseconds timeout, std::function<std::int64_t()> life,
                   std::function<void()> on_silence)
    : life_(std::move(life)),
      on_silence_(std::move(on_silence)),
      thread_([this, timeout] { watch(timeout); }) {}

Watchdog::~Watchdog() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Watchdog::watch(std::chrono::milliseconds timeout) {
  using Clock = std::chrono::steady_clock;
  std::int64_t seen = life_();
  Clock::time_point since = Clock::now();
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, timeout / 20, [this] { return stop_; })) {
    const std::int64_t now = life_();
    if (now != seen) {
      seen = now;
      since = Clock::now();
    } else if (Clock::now() - since > timeout) {
      on_silence_();
      return;
    }
  }
}

}  // namespace jointer::runner
