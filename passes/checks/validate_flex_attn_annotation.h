#pragma once

#include "core/pass/pass.h"

namespace jointer {

Pass validate_flex_attn_annotation_pass();

}  // namespace jointer
