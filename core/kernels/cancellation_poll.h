#pragma once

// Asks a caller, from within long loops, whether it still needs the result.

#include <cstdint>
#include <functional>
#include <utility>

namespace jointer::kernels {

class CancellationPoll {
 public:
  // `is_cancelled` may be empty.
  explicit CancellationPoll(std::function<bool()> is_cancelled = {})
      : ask_(std::move(is_cancelled)) {}

  // True once the caller has cancelled. A loop that gets true must end early; its result is not
  // used.
  bool is_cancelled() {
    is_cancelled_ = is_cancelled_ || (ask_ && ask_());
    return is_cancelled_;
  }
  // The same, for steps of about a microsecond: asks the caller only on every 256th call.
  bool is_cancelled_throttled() {
    constexpr std::uint32_t kSteps = 256;
    return ++steps_ % kSteps == 0 ? is_cancelled() : is_cancelled_;
  }

 private:
  std::function<bool()> ask_;
  std::uint32_t steps_ = 0;
  bool is_cancelled_ = false;
};

}  // namespace jointer::kernels
