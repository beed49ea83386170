#include "app/runner/program/device_progress.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <utility>

namespace jointer::runner {
namespace {

// Once there are this many marks, mark() removes those that the device has reached.
constexpr std::size_t kEnough = 256;

}  // namespace

void DeviceProgress::mark(std::size_t instruction) {
  c10::Event event = take_event();
  // This blocks if a device hangs with a full queue, so do not hold the lock here:
  // oldest_unfinished() must not block.
  event.record(c10::impl::VirtualGuardImpl(device_.type()).getStream(device_));
  const std::lock_guard lock(mutex_);
  marks_.push_back({std::move(event), instruction});
}

c10::Event DeviceProgress::take_event() {
  const std::lock_guard lock(mutex_);
  if (marks_.size() >= kEnough)
    while (!marks_.empty() && marks_.front().event.query()) {
      last_reached_ = marks_.front().instruction;
      spare_.push_back(std::move(marks_.front().event));
      marks_.pop_front();
    }
  if (spare_.empty()) spare_.emplace_back(device_.type());
  c10::Event event = std::move(spare_.back());
  spare_.pop_back();
  return event;
}

std::optional<DeviceProgress::Unfinished> DeviceProgress::oldest_unfinished() const {
  const std::lock_guard lock(mutex_);
  std::optional<std::size_t> reached = last_reached_;
  for (const Mark& mark : marks_) {
    if (!mark.event.query()) {
      if (reached && *reached >= mark.instruction) reached.reset();  // of the previous step
      return Unfinished{.instruction = mark.instruction, .after = reached};
    }
    reached = mark.instruction;
  }
  return std::nullopt;
}

}  // namespace jointer::runner
