#pragma once

#include <QPushButton>
#include <QStringList>

#include "views/widgets/notice_bar.h"

namespace jointer::views {

// A bar for messages that must not be missed, such as failures. Each message stays until it is
// dismissed. The bar shows the newest message, and is hidden if there is none.
class MessageBar : public NoticeBar {
  Q_OBJECT
 public:
  explicit MessageBar(QWidget* parent = nullptr);

  // Adds a message. If it is already in the bar, it becomes the newest.
  void add(const QString& message);

 private:
  void copy() const;
  void dismiss();
  void dismiss_all();
  void refresh();

  QStringList messages_;  // newest last
  QPushButton* dismiss_ = nullptr;
  QPushButton* dismiss_all_ = nullptr;
};

}  // namespace jointer::views
