#include "passes/clean_up/clean_up.h"

namespace jointer {

std::vector<Pass> clean_up_passes() {
  return {};
}

}  // namespace jointer
