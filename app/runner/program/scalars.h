#pragma once

#include <string_view>

#include "app/runner/program/program.h"

namespace jointer::runner {

// Finds a function on sizes and conditions by the name under which torch traces it, such as
// `_operator.add`, `torch.sym_sum` or `math.ceil`. The functions follow Python's rules for
// integers, division and rounding. Returns null for any other name.
Builtin find_scalar_builtin(std::string_view target);

}  // namespace jointer::runner
