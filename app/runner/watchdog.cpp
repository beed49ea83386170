#include "app/runner/watchdog.h"

#include <algorithm>
#include <utility>

namespace jointer::runner {

Watchdog::Watchdog(std::chrono::milliseconds timeout, std::function<std::int64_t()> life,
                   std::function<Time()> now, std::function<void()> on_silence)
    : life_(std::move(life)),
      now_(std::move(now)),
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
  using namespace std::chrono_literals;
  // The interval is in real time, even if `now_` runs faster.
  const auto interval = std::min<std::chrono::milliseconds>(timeout / 20, 100ms);
  std::int64_t seen = life_();
  Time since = now_();
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, interval, [this] { return stop_; })) {
    const std::int64_t signs = life_();
    if (signs != seen) {
      seen = signs;
      since = now_();
    } else if (now_() - since > timeout) {
      on_silence_();
      return;
    }
  }
}

}  // namespace jointer::runner
