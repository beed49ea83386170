#pragma once

#include "core/pass/pass.h"

namespace jointer {

Pass apply_cpu_offload_pass();

}  // namespace jointer
