#pragma once

#include <string_view>

#include "app/runner/program.h"

namespace jointer::runner {

// Python's functions on sizes and conditions as torch traces them: `_operator.add`,
// `torch.sym_sum`, `math.ceil`. Whole numbers stay whole, division and rounding are Python's. Null
// if there is none of that name.
Builtin find_scalar_builtin(std::string_view target);

}  // namespace jointer::runner
