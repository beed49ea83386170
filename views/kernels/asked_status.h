#pragma once

#include <QProgressBar>
#include <QToolButton>
#include <QWidget>

#include "views/session/document/document.h"
#include "views/widgets/elided_label.h"
#include "views/widgets/notice_bar.h"

namespace jointer::views {

// Shows the progress of a request to Inductor, with a button that cancels it, or why the last
// request failed. Takes no space if there is nothing to show.
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
