#pragma once

#include "core/pass/pass.h"

namespace jointer {

Pass selective_activation_remat_pass();

}  // namespace jointer
