#pragma once

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

 private:
  DocumentStack* stack_ = nullptr;
};

}  // namespace jointer::views
