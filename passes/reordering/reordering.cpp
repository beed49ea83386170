#include "passes/reordering/reordering.h"

namespace jointer {

std::vector<Pass> reordering_passes() {
  return {};
}

}  // namespace jointer
