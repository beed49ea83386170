#include "app/runner/watchdog.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

namespace jointer::runner {

std::jthread start_watchdog(std::chrono::milliseconds timeout, std::function<std::int64_t()> life,
                            std::function<std::chrono::steady_clock::time_point()> now,
                            std::function<void()> on_silence) {
  return std::jthread([timeout, life = std::move(life), now = std::move(now),
                       on_silence = std::move(on_silence)](const std::stop_token& stop) {
    using namespace std::chrono_literals;
    // The interval is in real time, even if `now` runs faster.
    const auto interval = std::min<std::chrono::milliseconds>(timeout / 20, 100ms);
    std::int64_t seen = life();
    auto since = now();
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, stop, interval, [&] { return stop.stop_requested(); })) {
      const std::int64_t signs = life();
      if (signs != seen) {
        seen = signs;
        since = now();
      } else if (now() - since > timeout) {
        on_silence();
        return;
      }
    }
  });
}

}  // namespace jointer::runner
