#pragma once

#include "core/pass/pass.h"

namespace jointer {

Pass async_tensor_parallel_pass();

}  // namespace jointer
