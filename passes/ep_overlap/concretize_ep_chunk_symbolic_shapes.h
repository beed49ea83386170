#pragma once

#include "core/pass/pass.h"

namespace jointer {

Pass concretize_ep_chunk_symbolic_shapes_pass();

}  // namespace jointer
