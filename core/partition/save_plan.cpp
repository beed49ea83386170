#include "core/partition/save_plan.h"

namespace jointer {

std::string_view to_string(PlanAction action) {
  switch (action) {
    case PlanAction::recompute:
      return "recompute";
    case PlanAction::save:
      return "save";
    case PlanAction::offload:
      return "offload";
  }
  return "";
}

}  // namespace jointer
