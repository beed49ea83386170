#pragma once

#include "core/pass/pass.h"

namespace jointer {

Pass ep_overlap_schedule_pass();
// The same checks without a change.
Pass ep_overlap_validate_pass();

}  // namespace jointer
