#pragma once

#include <QPushButton>
#include <QStringList>

#include "views/widgets/notice_bar.h"

namespace jointer::views {

// Messages that must not be missed, such as failures. Each stays until it is dismissed. The bar
// shows the newest one, and is hidden if there is none.
class MessageBar : public NoticeBar {
  Q_OBJECT
 public:
  explicit MessageBar(QWidget* parent = nullptr);

  // A message that is already shown becomes the newest.
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
