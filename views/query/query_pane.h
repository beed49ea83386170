#pragma once

#include <QLabel>
#include <QSpinBox>
#include <QToolButton>
#include <QWidget>

#include "views/query/query_editor.h"
#include "views/query/query_runner.h"
#include "views/query/result_table.h"

namespace jointer::views {

// SQL queries over the graph: an editor with the list of tables, and the rows below.
class QueryPane : public QWidget {
  Q_OBJECT
 public:
  explicit QueryPane(Document& document, QWidget* parent = nullptr);

 private:
  void add_bar();
  void add_parts();
  void add_examples(QToolButton& button);
  void run();
  void cancel();
  void show_running();
  void show_answer(const QueryAnswer& answer);
  void show_error(const QString& message);
  void clear_rows();
  void end(const QString& status, bool is_error);

  QueryRunner runner_;
  QWidget* bar_ = nullptr;
  QToolButton *run_ = nullptr, *cancel_ = nullptr, *copy_ = nullptr, *save_ = nullptr;
  QSpinBox* limit_ = nullptr;
  QueryEditor* editor_ = nullptr;
  QLabel* status_ = nullptr;
  ResultTable* rows_ = nullptr;
};

}  // namespace jointer::views
