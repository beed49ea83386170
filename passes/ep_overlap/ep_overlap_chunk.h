#pragma once

#include "core/pass/pass.h"

namespace jointer {

Pass ep_overlap_chunk_pass();

}  // namespace jointer
