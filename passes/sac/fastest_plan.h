#pragma once

#include "core/pass/pass.h"

namespace jointer {

Pass fastest_plan_pass();

}  // namespace jointer
