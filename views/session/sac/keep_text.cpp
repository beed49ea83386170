#include "views/session/sac/keep_text.h"

#include <QCoreApplication>

namespace jointer::views {
namespace {

QString words(const char* text) {
  return QCoreApplication::translate("Sac", text);
}

}  // namespace

QString keep_word(Keep keep) {
  switch (keep) {
    case Keep::save:
      return words("save");
    case Keep::recompute:
      return words("recompute");
    case Keep::offload:
      break;
  }
  return words("offload");
}

}  // namespace jointer::views
