#pragma once

// Operators in graphs captured on CUDA that run differently on the CPU. Operators without a CPU
// kernel get one under their own name (attention.cpp, normalization.cpp). Operators whose CPU
// kernel is more limited are replaced by Jointer's own.

#include <string_view>

namespace jointer::runner {

struct Replacement {
  std::string_view captured, target;
  std::string_view what;  // for notes to the user
};

// Null if the CPU runs the operator unchanged.
const Replacement* find_replacement(std::string_view target);

}  // namespace jointer::runner
