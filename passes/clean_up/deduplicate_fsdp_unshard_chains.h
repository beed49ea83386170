#pragma once

#include "core/pass/pass.h"

namespace jointer {

Pass deduplicate_fsdp_unshard_chains_pass();

}  // namespace jointer
