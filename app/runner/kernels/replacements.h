#pragma once

// Operators of CUDA graphs that have another form on the CPU. Those without any CPU kernel are
// given one under their own name (attention.cpp, normalization.cpp); those whose CPU kernel does
// less are replaced by one of ours.

#include <string_view>

namespace jointer::runner {

struct Replacement {
  std::string_view captured, target;
  std::string_view what;  // for people
};

// Null if the operator runs on the CPU as it is.
const Replacement* find_replacement(std::string_view target);

}  // namespace jointer::runner
