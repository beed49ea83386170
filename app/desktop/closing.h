#pragma once

#include <QMainWindow>
#include <QMessageBox>
#include <QObject>
#include <QPointer>
#include <map>

#include "app/desktop/documents.h"
#include "app/desktop/workspaces.h"

namespace jointer::desktop {

// Closes documents and the window. First asks whether to save or discard unsaved changes.
class Closing : public QObject {
  Q_OBJECT
 public:
  // `window` is the parent of the message boxes. All arguments must outlive this object.
  Closing(QMainWindow& window, Documents& documents, Workspaces& workspaces);

  // Closes a document once running saves have ended. If the document has unsaved changes, asks the
  // user first.
  void close(views::DocumentTab* tab);
  // Returns true if no document has unsaved changes or is being saved. Otherwise returns false and
  // goes through these documents one by one: waits for a running save, or asks about unsaved
  // changes, and closes the document. Finally closes the window, unless the user cancels or saving
  // fails.
  bool may_close_window();

 private:
  void ask(views::DocumentTab* tab);
  void handle_answer(views::DocumentTab* tab, int button);
  void save_and_close(views::DocumentTab* tab);
  // Closes the document once no save is running or waiting, unless a save fails or the returned
  // object is deleted first. If the document then has unsaved edits, asks about them instead.
  QObject* close_when_saved(views::DocumentTab* tab);
  void close_now(views::DocumentTab* tab);

  QMainWindow& window_;
  Documents& documents_;
  Workspaces& workspaces_;
  QPointer<QMessageBox> question_;
  std::map<views::DocumentTab*, QPointer<QObject>> closing_when_saved_;
  bool is_closing_window_ = false;
};

}  // namespace jointer::desktop
