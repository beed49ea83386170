#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

namespace jointer::runner {

// Calls `on_silence` once if there is no sign of life for longer than `timeout`. `life` returns the
// number of signs of life so far, `now` the time by which `timeout` is measured. All three are
// called on the returned thread. The watchdog starts immediately, and stops when that thread is
// destroyed.
[[nodiscard]] std::jthread start_watchdog(
    std::chrono::milliseconds timeout, std::function<std::int64_t()> life,
    std::function<std::chrono::steady_clock::time_point()> now, std::function<void()> on_silence);

}  // namespace jointer::runner
