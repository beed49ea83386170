#pragma once

#include "core/pass/pass.h"

namespace jointer {

Pass join_pass();

}  // namespace jointer
