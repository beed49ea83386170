#pragma once

#include "core/pass/pass.h"

namespace jointer {

Pass populate_chunk_dim_metadata_pass();

}  // namespace jointer
