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
  // The current document's pane; null if it has not been created.
  [[nodiscard]] QWidget* pane() const { return stack_->shown(); }
  // An action that is checked while the dock is on screen. Unchecking it closes the dock. Checking
  // it brings the dock to the front, even if the dock is behind another tab, in which case Qt's own
  // action would close it.
  [[nodiscard]] QAction* seen_action() const { return seen_; }

 private:
  DocumentStack* stack_ = nullptr;
  QAction* seen_ = nullptr;
};

}  // namespace jointer::views
