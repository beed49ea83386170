#pragma once

// The progress of a device through the calls that the host has launched. The device runs calls
// later than the host launches them, so if the device hangs, the host is at a later call.

#include <c10/core/Device.h>
#include <c10/core/Event.h>

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

namespace jointer::runner {

class DeviceProgress {
 public:
  explicit DeviceProgress(c10::Device device) : device_(device) {}

  // Must be called after an instruction is launched. The device reaches the mark when it has
  // finished everything that is queued on its current stream. Throws c10::Error if the device has
  // failed.
  void mark(std::size_t instruction);
  // The instruction of the oldest mark that the device has not reached, and that of the mark before
  // it, if both belong to the same step.
  struct Unfinished {
    std::size_t instruction = 0;
    std::optional<std::size_t> after;
  };
  // std::nullopt if the device has reached all marks. May be called from another thread while the
  // thread that sets marks is blocked.
  [[nodiscard]] std::optional<Unfinished> oldest_unfinished() const;

 private:
  struct Mark {
    c10::Event event;
    std::size_t instruction = 0;
  };

  // An event that is not in use.
  c10::Event take_event();

  c10::Device device_;
  mutable std::mutex mutex_;  // guards the next three members
  std::deque<Mark> marks_;
  std::optional<std::size_t> last_reached_;  // the instruction of the last mark removed from marks_
  std::vector<c10::Event> spare_;            // for reuse
};

}  // namespace jointer::runner
