#pragma once

#include <QAction>
#include <QDockWidget>

#include "views/window/document_stack.h"

namespace jointer::views {

// A dock that shows one kind of pane for whichever document is in front.
class PaneDock : public QDockWidget {
  Q_OBJECT
 public:
  PaneDock(const QString& title, const QString& object_name, DocumentStack::Make make,
           QWidget* parent = nullptr);

  void show_document(Document* document) { stack_->show_document(document); }
  // The pane of the document in front, null if there is none yet.
  [[nodiscard]] QWidget* pane() const { return stack_->shown(); }
  // Whether it is on screen. Off: it is closed. On: it is brought to the front, also from behind
  // another tab, where Qt's own action would close it.
  [[nodiscard]] QAction* seen_action() const { return seen_; }

 private:
  DocumentStack* stack_ = nullptr;
  QAction* seen_ = nullptr;
};

}  // namespace jointer::views
