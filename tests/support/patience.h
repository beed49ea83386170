#pragma once

namespace jointer::test {

// How long a test waits for something that takes milliseconds, on a machine that is busy.
inline constexpr int kPatienceMs = 20000;

}  // namespace jointer::test
