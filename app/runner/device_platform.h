#pragma once

// The base class of platforms whose memory is separate from the host's. Requested and allocated
// bytes include only the program's allocations.

#include <cstdint>
#include <functional>

#include "app/runner/platform.h"

namespace jointer::runner {

class DevicePlatform : public Platform {
 public:
  [[nodiscard]] MemoryFigures memory() const final;
  std::int64_t start_counting() final;
  std::int64_t make_workspaces(const std::function<bool()>& step, bool recorded) final;

 protected:
  // The device allocator's statistics, which include all allocations.
  [[nodiscard]] virtual MemoryFigures all_memory() const = 0;
  // Calls `step` while the stream on which record() captures is the current stream.
  virtual void run_on_recording_stream(const std::function<void()>& step) = 0;

 private:
  void leave_out(std::int64_t requested, std::int64_t allocated);

  std::int64_t requested_before_ = 0, allocated_before_ = 0;  // bytes that do not count
};

}  // namespace jointer::runner
