#pragma once

#include "core/pass/pass.h"

namespace jointer {

// Starts collectives early, to overlap with compute that does not need them, and merges similar
// ones where that costs no overlap.
Pass autobucketing_reordering();

}  // namespace jointer
