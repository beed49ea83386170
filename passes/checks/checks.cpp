#include "passes/checks/checks.h"

#include "passes/checks/spmd_check.h"
#include "passes/checks/validate_flex_attn_annotation.h"

namespace jointer {

std::vector<Pass> check_passes() {
  return {
      spmd_check_pass(),
      validate_flex_attn_annotation_pass(),
  };
}

}  // namespace jointer
