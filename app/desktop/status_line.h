#pragma once

#include <QLabel>
#include <QObject>
#include <QStatusBar>
#include <QToolButton>

#include "app/desktop/documents.h"

namespace jointer::desktop {

// The status line: a summary of the current graph with its derived facts, which temporary messages
// cover, and the figures of the selection.
class StatusLine : public QObject {
  Q_OBJECT
 public:
  // Both must outlive this object.
  StatusLine(QStatusBar& bar, Documents& documents);

 public slots:
  void say(const QString& message);

 private:
  void follow(const views::DocumentTab* tab);
  void refresh();

  QStatusBar& bar_;
  Documents& documents_;
  QToolButton* facts_ = nullptr;
  QLabel* selection_ = nullptr;
};

}  // namespace jointer::desktop
