#pragma once

#include <QPlainTextEdit>

#include "views/session/document/document.h"

namespace jointer::views {

// The reason for the selected tensor's policy, and its margin; shown below the table.
class SacReasons : public QPlainTextEdit {
  Q_OBJECT
 public:
  explicit SacReasons(Document& document, QWidget* parent = nullptr);

  // Sets the number of lines shown; the user can scroll to the others.
  void set_lines(int lines);

 protected:
  void showEvent(QShowEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void refresh();
  void fit_height();

  Document& document_;
  int lines_ = 5;
};

}  // namespace jointer::views
