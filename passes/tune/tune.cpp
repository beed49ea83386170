#include "passes/tune/tune.h"

#include "passes/tune/auto_tune.h"

namespace jointer {

std::vector<Pass> tune_passes() {
  return {auto_tune_pass()};
}

}  // namespace jointer
