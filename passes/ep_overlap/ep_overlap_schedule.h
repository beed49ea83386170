#pragma once

#include "core/pass/pass.h"

namespace jointer {

Pass ep_overlap_schedule_pass();
// Makes the checks of ep_overlap_schedule but changes nothing.
Pass ep_overlap_validate_pass();

}  // namespace jointer
