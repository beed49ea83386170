#pragma once

// Creation of MainWindow's actions, for the files that build its menus.

#include <QAction>
#include <QMenu>

#include "app/desktop/main_window.h"

namespace jointer::desktop {

template <class Slot>
QAction* MainWindow::add_action(QMenu* menu, const QString& text, const QList<QKeySequence>& keys,
                                Needs needs, Slot slot) {
  auto* action = new QAction(text, this);
  action->setShortcuts(keys);
  connect(action, &QAction::triggered, this, slot);
  if (needs == Needs::document) document_actions_.push_back(action);
  if (needs == Needs::run) run_actions_.push_back(action);
  if (needs == Needs::passes) pass_actions_.push_back(action);
  if (needs == Needs::undo) undo_ = action;
  if (needs == Needs::redo) redo_ = action;
  if (needs == Needs::edits) edited_actions_.push_back(action);
  menu->addAction(action);
  return action;
}

}  // namespace jointer::desktop
