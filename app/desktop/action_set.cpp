#include "app/desktop/action_set.h"

#include "views/session/benchmark/benchmarks.h"
#include "views/session/document/document.h"
#include "views/session/edit/editing.h"
#include "views/session/pipeline/pipeline_session.h"

namespace jointer::desktop {
namespace {

bool has(const views::Session& session, Needs needs) {
  switch (needs) {
    case Needs::run:
      return session.benchmarks().is_running();
    case Needs::passes:
      return session.pipeline().is_running();
    case Needs::edits:
      return session.document().editing().is_edited();
    case Needs::nothing:
    case Needs::document:
      break;
  }
  return true;
}

}  // namespace

void ActionSet::refresh(const views::Session* session) {
  for (const auto& [needs, actions] : actions_) {
    const bool is_enabled = session != nullptr && has(*session, needs);
    for (QAction* action : actions) action->setEnabled(is_enabled);
  }
}

}  // namespace jointer::desktop
