#include "app/runner/device_platform.h"

namespace jointer::runner {

MemoryFigures DevicePlatform::memory() const {
  const auto own = [](std::int64_t bytes, std::int64_t before) {
    return std::max<std::int64_t>(0, bytes - before);
  };
  const MemoryFigures all = all_memory();
  return {.requested = own(all.requested, requested_before_),
          .allocated = own(all.allocated, allocated_before_),
          .reserved = all.reserved,
          .peak_requested = own(all.peak_requested, requested_before_),
          .peak_allocated = own(all.peak_allocated, allocated_before_),
          .peak_reserved = all.peak_reserved,
          .peak_pinned = all.peak_pinned};
}

std::int64_t DevicePlatform::start_counting() {
  synchronize();
  release_cache();
  const MemoryFigures now = memory();
  leave_out(now.requested, now.allocated);
  reset_peaks();
  return now.allocated;
}

std::int64_t DevicePlatform::make_workspaces(const std::function<bool()>& step, bool recorded) {
  const MemoryFigures before = memory();
  bool is_done = false;
  const auto run = [&] { is_done = step(); };
  if (recorded)
    run_on_recording_stream(run);
  else
    run();
  if (!is_done) return 0;
  synchronize();
  const MemoryFigures after = memory();
  const std::int64_t made = after.allocated - before.allocated;
  leave_out(after.requested - before.requested, made);
  return made;
}

void DevicePlatform::leave_out(std::int64_t requested, std::int64_t allocated) {
  requested_before_ += requested;
  allocated_before_ += allocated;
}

}  // namespace jointer::runner
