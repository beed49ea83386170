#include "core/partition/save_plan.h"

namespace jointer {

std::string_view to_string(Keep keep) {
  switch (keep) {
    case Keep::recompute:
      return "recompute";
    case Keep::save:
      return "save";
    case Keep::offload:
      return "offload";
  }
  return "";
}

}  // namespace jointer
