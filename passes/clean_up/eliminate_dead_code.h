#pragma once

#include "core/pass/pass.h"

namespace jointer {

Pass eliminate_dead_code_pass();

}  // namespace jointer
