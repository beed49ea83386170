#include "tests/runner/fake_device/clock.h"

#include <unistd.h>

namespace jointer::test {

void VirtualClock::wait(std::int64_t until) {
  if (until == kNever) {
    now_ = kNever - 1;  // whatever ends has ended
    *hung_since_ = std::chrono::steady_clock::now();
    for (;;) ::pause();
  }
  now_ = std::max(now_, until);
}

std::chrono::steady_clock::time_point VirtualClock::real_time() const {
  const auto now = std::chrono::steady_clock::now();
  const auto since = hung_since_->load();
  return now < since ? now : since + kHangSpeed * (now - since);
}

}  // namespace jointer::test
