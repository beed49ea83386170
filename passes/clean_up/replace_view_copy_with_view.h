#pragma once

#include "core/pass/pass.h"

namespace jointer {

Pass replace_view_copy_with_view_pass();

}  // namespace jointer
