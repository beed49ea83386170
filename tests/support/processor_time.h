#pragma once

#include <ctime>

namespace jointer::test {

// The CPU time of this thread in milliseconds: other work on a busy machine does not count.
inline double processor_ms() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

}  // namespace jointer::test
