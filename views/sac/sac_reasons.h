#pragma once

#include <QPlainTextEdit>

#include "views/session/document/document.h"

namespace jointer::views {

// The reason for the selected tensor's policy, with its margin, below the table.
class SacReasons : public QPlainTextEdit {
  Q_OBJECT
 public:
  explicit SacReasons(Document& document, QWidget* parent = nullptr);

  // The number of whole lines that are shown; further lines can be scrolled to.
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
