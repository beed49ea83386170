#pragma once

#include "core/pass/pass.h"

namespace jointer {

Pass low_contention_collectives_pass();

}  // namespace jointer
