#include "views/window/message_bar.h"

#include <QClipboard>
#include <QGuiApplication>

namespace jointer::views {

MessageBar::MessageBar(QWidget* parent) : NoticeBar(parent) {
  setObjectName(QStringLiteral("message_bar"));
  QPushButton* copy = add_button(tr("Copy"), "copy");
  copy->setToolTip(tr("Copy this message"));
  connect(copy, &QPushButton::clicked, this, &MessageBar::copy);
  dismiss_ = add_button(tr("Dismiss"), "dismiss");
  connect(dismiss_, &QPushButton::clicked, this, &MessageBar::dismiss);
  dismiss_all_ = add_button(tr("Dismiss All"), "dismiss_all");
  connect(dismiss_all_, &QPushButton::clicked, this, &MessageBar::dismiss_all);
  refresh();
}

void MessageBar::add(const QString& message) {
  messages_.removeAll(message);
  messages_ << message;
  refresh();
}

void MessageBar::copy() const {
  QGuiApplication::clipboard()->setText(messages_.last());
}

void MessageBar::dismiss() {
  messages_.removeLast();
  refresh();
}

void MessageBar::dismiss_all() {
  messages_.clear();
  refresh();
}

void MessageBar::refresh() {
  setVisible(!messages_.isEmpty());
  if (messages_.isEmpty()) return;
  set_text(messages_.last());
  const auto count = messages_.size();
  dismiss_->setText(count == 1 ? tr("Dismiss") : tr("Dismiss 1 of %1").arg(count));
  dismiss_all_->setVisible(count > 1);
}

}  // namespace jointer::views
