#pragma once

#include "core/pass/pass.h"

namespace jointer {

// Collectives start early, beside compute that does not need them, and those alike become one where
// that costs no overlap.
Pass autobucketing_reordering();

}  // namespace jointer
