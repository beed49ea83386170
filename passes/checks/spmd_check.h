#pragma once

#include "core/pass/pass.h"

namespace jointer {

Pass spmd_check_pass();

}  // namespace jointer
