#pragma once

#include "core/pass/pass.h"

namespace jointer {

// Merges neighboring collectives of the same kind, up to a maximum size.
Pass greedy_bucketing_by_mb();

}  // namespace jointer
