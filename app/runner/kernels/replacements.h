#pragma once

// Operators in graphs captured on CUDA that need another form on the CPU. Those without any CPU
// kernel get one under their own name (attention.cpp, normalization.cpp); those with a more limited
// CPU kernel are replaced by Jointer's own.

#include <string_view>

namespace jointer::runner {

struct Replacement {
  std::string_view captured, target;
  std::string_view what;  // for notes to the user
};

// Null if the operator runs on the CPU unchanged.
const Replacement* find_replacement(std::string_view target);

}  // namespace jointer::runner
