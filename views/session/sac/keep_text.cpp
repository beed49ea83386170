#include "views/session/sac/keep_text.h"

#include "views/session/translation/tr.h"

namespace jointer::views {

QString keep_word(Keep keep) {
  switch (keep) {
    case Keep::save:
      return tr("save");
    case Keep::recompute:
      return tr("recompute");
    case Keep::offload:
      break;
  }
  return tr("offload");
}

}  // namespace jointer::views
