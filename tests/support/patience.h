#pragma once

namespace jointer::test {

// How long a test waits for something that takes milliseconds, or a few seconds, on an idle
// machine. A machine may be twenty times as busy; only a failing test waits this long.
inline constexpr int kPatienceMs = 120'000;

}  // namespace jointer::test
