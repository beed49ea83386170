#pragma once

#include <QAction>
#include <QDialog>
#include <QLineEdit>
#include <QList>
#include <QString>
#include <QTextBrowser>

#include "views/widgets/keys_group.h"

namespace jointer::views {

// The shortcuts of these actions, with their "What's This?" texts in parentheses. Skips actions
// without a shortcut.
KeysGroup keys_of(const QString& title, const QList<QAction*>& actions);

// A dialog that lists keys in groups and has a filter.
class KeysHelp : public QDialog {
  Q_OBJECT
 public:
  explicit KeysHelp(QList<KeysGroup> groups, QWidget* parent = nullptr);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void show_groups();

  QList<KeysGroup> groups_;
  QLineEdit* filter_ = nullptr;
  QTextBrowser* page_ = nullptr;
};

}  // namespace jointer::views
