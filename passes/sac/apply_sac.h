#pragma once

#include "core/pass/pass.h"

namespace jointer {

Pass apply_sac_pass();

}  // namespace jointer
