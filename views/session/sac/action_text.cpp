#include "views/session/sac/action_text.h"

#include "views/session/translation/tr.h"

namespace jointer::views {

QString action_word(PlanAction action) {
  switch (action) {
    case PlanAction::save:
      return tr("save");
    case PlanAction::recompute:
      return tr("recompute");
    case PlanAction::offload:
      break;
  }
  return tr("offload");
}

}  // namespace jointer::views
