#pragma once

#include <QList>
#include <QMessageBox>
#include <QObject>
#include <QWidget>
#include <functional>

#include "views/session/pipeline/pass_service.h"

namespace jointer::views {

// Asks the user before third-party code runs, and shows its source, its file and its permissions.
// Once the user has allowed code, its passes run without further questions until its file changes
// or, for an installed module, until the next start. Opening a graph never causes a question.
class CodeQuestions : public QObject {
  Q_OBJECT
 public:
  // The window owns this object and is the parent of its dialogs. `service` must outlive this
  // object.
  CodeQuestions(PassService& service, QWidget* window);

 public slots:
  // Asks one question about all of the code, and calls `then` if the user allows it.
  void ask(const QList<jointer::views::ForeignCode>& code, const std::function<void()>& then);
  // Adds the passes of this code: those of a plugin immediately, and Python passes once the user
  // has allowed them to run. Asks only about code that is not allowed yet, and only one question
  // about it at a time.
  void load(const jointer::views::ForeignCode& code);
  // Asks the user which plugin or pass to add.
  void choose_plugin();
  void choose_python();

 private:
  QMessageBox* show_question(const QList<ForeignCode>& code, const std::function<void()>& then);
  void load_python(const QString& spec);

  PassService& service_;
  QWidget* window_;
  QString last_folder_;
  QList<ForeignCode> to_load_;  // code whose passes are added if the user allows it
};

// Describes third-party code in a question: its source, passes and file.
QString code_text(const ForeignCode& code);

}  // namespace jointer::views
