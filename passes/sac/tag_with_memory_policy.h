#pragma once

#include "core/pass/pass.h"

namespace jointer {

Pass tag_with_memory_policy_pass();

}  // namespace jointer
