#pragma once

// Operators that run differently on a device other than that of the capture. For CUDA's operators
// without a CPU kernel, a kernel is registered under the same name (attention.cpp,
// normalization.cpp). The CPU's attention operators, which CUDA lacks, and operators whose kernel
// on the other device is more limited are replaced by Jointer's own operators.

#include <c10/core/DeviceType.h>

#include <string_view>

namespace jointer::runner {

struct Replacement {
  c10::DeviceType on;
  std::string_view captured, target;
  std::string_view what;  // for notes to the user
};

// The replacement for an operator captured on another device; null if `on` runs it unchanged.
const Replacement* find_replacement(std::string_view target, c10::DeviceType on);

}  // namespace jointer::runner
