#pragma once

#include "core/pass/pass.h"

namespace jointer {

Pass dedup_fsdp_reduce_scatter_pass();

}  // namespace jointer
