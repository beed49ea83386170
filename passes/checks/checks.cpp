#include "passes/checks/checks.h"

namespace jointer {

std::vector<Pass> check_passes() {
  return {
      spmd_check_pass(),
      validate_flex_attn_annotation_pass(),
  };
}

}  // namespace jointer
