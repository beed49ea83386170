#include "passes/sac/sac.h"

namespace jointer {

std::vector<Pass> sac_passes() {
  return {};
}

}  // namespace jointer
