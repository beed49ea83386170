#include "tests/runner/fake_device/clock.h"

#include <unistd.h>

namespace jointer::test {

void VirtualClock::wait(std::int64_t until) {
  if (until == kNever) {
    now_ = kNever - 1;  // whatever ends has ended
    for (;;) ::pause();
  }
  now_ = std::max(now_, until);
}

}  // namespace jointer::test
