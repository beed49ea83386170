#pragma once

#include "core/pass/pass.h"

namespace jointer {

Pass fsdp_reshard_after_fwd_pass();

}  // namespace jointer
