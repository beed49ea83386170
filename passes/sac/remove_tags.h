#pragma once

#include "core/pass/pass.h"

namespace jointer {

Pass remove_tags_pass();

}  // namespace jointer
