#include "passes/tune/tune.h"

namespace jointer {

std::vector<Pass> tune_passes(RegistryMaker make_registry) {
  return {auto_tune_pass(make_registry)};
}

}  // namespace jointer
