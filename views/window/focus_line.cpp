#include "views/window/focus_line.h"

#include <QApplication>
#include <QEvent>
#include <QPainter>

#include "views/theme/theme.h"

namespace jointer::views {
namespace {

constexpr int kHeight = 2;

}  // namespace

FocusLine::FocusLine(QWidget& pane) : QWidget(&pane), pane_(pane) {
  setObjectName(QStringLiteral("focus_line"));
  setAttribute(Qt::WA_TransparentForMouseEvents);
  pane_.setContentsMargins(0, kHeight, 0, 0);
  pane_.installEventFilter(this);
  connect(qApp, &QApplication::focusChanged, this,
          [this](const QWidget* /*old*/, const QWidget* now) { follow(now); });
  place();
  follow(QApplication::focusWidget());
}

bool FocusLine::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Resize) place();
  return QWidget::eventFilter(watched, event);
}

void FocusLine::paintEvent(QPaintEvent* /*event*/) {
  QPainter(this).fillRect(rect(), Theme::of(palette()).accent);
}

void FocusLine::place() {
  setGeometry(0, 0, pane_.width(), kHeight);
}

void FocusLine::follow(const QWidget* focused) {
  setVisible(focused != nullptr && (focused == &pane_ || pane_.isAncestorOf(focused)));
}

}  // namespace jointer::views
