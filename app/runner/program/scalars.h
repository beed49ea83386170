#pragma once

#include <string_view>

#include "app/runner/program/program.h"

namespace jointer::runner {

// Finds one of Python's functions on sizes and conditions, as torch traces them: `_operator.add`,
// `torch.sym_sum`, `math.ceil`. Integers stay integers, and division and rounding follow Python's
// rules. Returns null for any other name.
Builtin find_scalar_builtin(std::string_view target);

}  // namespace jointer::runner
