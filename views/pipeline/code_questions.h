#pragma once

#include <QList>
#include <QObject>
#include <QWidget>
#include <functional>

#include "views/pipeline/pass_service.h"

namespace jointer::views {

// Asks a person before code of others runs: whose, which file, what it may do. What was allowed
// once is not asked again as long as the file stays as it is; opening a graph asks nothing.
class CodeQuestions : public QObject {
  Q_OBJECT
 public:
  // Owned by the window that the questions stand over. The service must outlive it.
  CodeQuestions(PassService& service, QWidget* window);

 public slots:
  // One question for all; `then` once they are allowed.
  void ask(const QList<jointer::views::ForeignCode>& code, const std::function<void()>& then);
  // Adds its passes: a plugin at once, a Python pass once it may run.
  void load(const jointer::views::ForeignCode& code);
  // Which one is chosen first.
  void choose_plugin();
  void choose_python();

 private:
  void load_python(const QString& spec);

  PassService& service_;
  QWidget* window_;
  QString last_folder_;
};

// What a person is asked about one of them: whose it is, which file, its content.
QString code_text(const ForeignCode& code);

}  // namespace jointer::views
