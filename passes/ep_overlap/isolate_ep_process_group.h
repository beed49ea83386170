#pragma once

#include "core/pass/pass.h"

namespace jointer {

Pass isolate_ep_process_group_pass();

}  // namespace jointer
