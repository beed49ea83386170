#pragma once

#include "core/pass/pass.h"

namespace jointer {

Pass reinplace_fsdp_all_gather_pass();

}  // namespace jointer
