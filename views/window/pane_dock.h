#pragma once

#include <QAction>
#include <QDockWidget>

#include "views/window/document_stack.h"

namespace jointer::views {

// A dock that shows one kind of pane for the current document.
class PaneDock : public QDockWidget {
  Q_OBJECT
 public:
  PaneDock(const QString& title, const QString& object_name, DocumentStack::Make make,
           QWidget* parent = nullptr);

  void show_session(Session* session) { stack_->show_session(session); }
  // The current document's pane, or null if it has not been created.
  [[nodiscard]] QWidget* pane() const { return stack_->shown(); }
  // Checked while the dock is on screen. Unchecking closes it; checking brings it to the front even
  // from behind another tab, where Qt's own action would close it.
  [[nodiscard]] QAction* seen_action() const { return seen_; }

 private:
  DocumentStack* stack_ = nullptr;
  QAction* seen_ = nullptr;
};

}  // namespace jointer::views
