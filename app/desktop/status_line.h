#pragma once

#include <QLabel>
#include <QObject>
#include <QStatusBar>
#include <QToolButton>

#include "app/desktop/documents.h"
#include "views/window/message_bar.h"

namespace jointer::desktop {

// The status line: a summary of the current graph and its derived facts, and the totals of the
// selected nodes or, if there are none, the selected range. Temporary messages cover the summary.
// Failures go to the message bar, where they stay until they are dismissed.
class StatusLine : public QObject {
  Q_OBJECT
 public:
  // All arguments must outlive this object.
  StatusLine(QStatusBar& bar, views::MessageBar& failures, Documents& documents);

  // Reports a failure that concerns a document, which is named unless it is the current one.
  void warn_about(const views::Document& document, const QString& message);

 public slots:
  void say(const QString& message);
  // Reports a failure.
  void warn(const QString& message) { failures_.add(message); }

 private:
  void follow(const views::DocumentTab* tab);
  void refresh();

  QStatusBar& bar_;
  views::MessageBar& failures_;
  Documents& documents_;
  QToolButton* facts_ = nullptr;
  QLabel* selection_ = nullptr;
};

}  // namespace jointer::desktop
