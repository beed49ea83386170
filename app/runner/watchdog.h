#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

namespace jointer::runner {

// Calls `on_silence` once, on a separate thread, if there is no progress for too long. `life`
// returns the number of signs of life so far, `now` the time by which `timeout` is measured. Both
// are called on the watchdog's thread. Starts immediately, and ends with the returned thread.
[[nodiscard]] std::jthread start_watchdog(
    std::chrono::milliseconds timeout, std::function<std::int64_t()> life,
    std::function<std::chrono::steady_clock::time_point()> now, std::function<void()> on_silence);

}  // namespace jointer::runner
