#pragma once

#include "core/pass/pass.h"

namespace jointer {

Pass remove_fsdp2_unsharded_param_graph_input_usage_pass();

}  // namespace jointer
