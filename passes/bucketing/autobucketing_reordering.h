#pragma once

#include "core/pass/pass.h"

namespace jointer {

// Starts collectives early to overlap them with compute that does not depend on them, and merges
// similar collectives if that costs no overlap.
Pass autobucketing_reordering();

}  // namespace jointer
