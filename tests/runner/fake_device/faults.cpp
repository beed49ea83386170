#include "tests/runner/fake_device/faults.h"

namespace jointer::test {

std::string_view to_string(FaultKind kind) {
  switch (kind) {
    case FaultKind::died:
      return "died";
    case FaultKind::hung:
      return "hung";
    case FaultKind::out_of_memory:
      return "out of memory";
    case FaultKind::driver_out_of_memory:
      return "driver out of memory";
    case FaultKind::device_assert:
      return "device assert";
    case FaultKind::link_down:
      return "link down";
  }
  return {};
}

std::optional<FaultKind> Faults::at_call(std::string_view part) {
  if (!fault_) return std::nullopt;
  const bool is_here = part.empty() ? stage_() == fault_->stage : part == fault_->stage;
  if (!is_here || ++calls_ != fault_->call) return std::nullopt;
  return fault_->kind;
}

}  // namespace jointer::test
