#pragma once

#include <QProgressBar>
#include <QToolButton>
#include <QWidget>

#include "views/session/document/document.h"
#include "views/widgets/elided_label.h"
#include "views/widgets/notice_bar.h"

namespace jointer::views {

// How far the question to Inductor is, with a button that ends it, and why it has no answer. Takes
// no space if there is nothing to say.
class AskedStatus : public QWidget {
  Q_OBJECT
 public:
  // `document` must outlive this object.
  explicit AskedStatus(Document& document, QWidget* parent = nullptr);

 private:
  void refresh();
  void show_progress();

  Document& document_;
  QWidget* running_ = nullptr;
  QProgressBar* bar_ = nullptr;
  ElidedLabel* stage_ = nullptr;
  NoticeBar* problem_ = nullptr;
};

}  // namespace jointer::views
