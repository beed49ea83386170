#include "passes/bucketing/bucketing.h"

namespace jointer {

std::vector<Pass> bucketing_passes() {
  return {};
}

}  // namespace jointer
