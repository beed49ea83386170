#pragma once

#include <QPlainTextEdit>

#include "views/session/document/document.h"

namespace jointer::views {

// The reason for the selected tensor's policy, with its margin, below the table.
class SacReasons : public QPlainTextEdit {
  Q_OBJECT
 public:
  explicit SacReasons(Document& document, QWidget* parent = nullptr);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void refresh();

  Document& document_;
};

}  // namespace jointer::views
