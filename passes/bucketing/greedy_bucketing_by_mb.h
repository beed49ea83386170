#pragma once

#include "core/pass/pass.h"

namespace jointer {

// Neighbouring collectives that are alike become one, up to a size.
Pass greedy_bucketing_by_mb();

}  // namespace jointer
