#pragma once

#include <QMenuBar>

#include "app/desktop/action_set.h"
#include "app/desktop/documents.h"
#include "app/desktop/last_folder.h"
#include "app/desktop/pane_docks.h"
#include "app/desktop/pane_focus.h"
#include "app/desktop/status_line.h"

namespace jointer::desktop {

// The parts of the main window that menu commands use. The window owns them.
struct MenuContext {
  QWidget& window;  // the parent of dialogs
  QMenuBar& bar;
  ActionSet& actions;
  Documents& documents;
  PaneDocks& panes;
  PaneFocus& focus;
  StatusLine& status;
  LastFolder& folder;

  // Returns a function that adds an action of `receiver` to a menu; see ActionSet::add.
  template <class Receiver>
  [[nodiscard]] auto adder(QMenu* menu, Receiver* receiver) const {
    return [&actions = actions, menu, receiver](
               const QString& text, const QList<QKeySequence>& keys, Needs needs, auto slot) {
      return actions.add(menu, text, keys, needs, receiver, slot);
    };
  }
  // Returns a function that adds an action to a menu. The action calls `act` with the current
  // timeline.
  [[nodiscard]] auto timeline_adder(QMenu* menu) const {
    return [add = adder(menu, &documents), &documents = documents](
               const QString& text, const QKeySequence& key, auto act) {
      add(text, {key}, Needs::document, [&documents, act] { documents.with_timeline(act); });
    };
  }
};

}  // namespace jointer::desktop
