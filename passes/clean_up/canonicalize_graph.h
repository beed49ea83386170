#pragma once

#include "core/pass/pass.h"

namespace jointer {

Pass canonicalize_graph_pass();

}  // namespace jointer
