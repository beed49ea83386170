#include "passes/checks/checks.h"

#include "passes/checks/validate_flex_attn_annotation.h"

namespace jointer {

std::vector<Pass> check_passes() {
  return {
      validate_flex_attn_annotation_pass(),
  };
}

}  // namespace jointer
