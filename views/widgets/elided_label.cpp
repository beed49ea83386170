#include "views/widgets/elided_label.h"

#include <QEvent>
#include <QPainter>

namespace jointer::views {

ElidedLabel::ElidedLabel(QWidget* parent) : QLabel(parent) {
  setTextFormat(Qt::PlainText);
  setTextInteractionFlags(Qt::TextSelectableByMouse);
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
}

QString ElidedLabel::fitting() const {
  return fontMetrics().elidedText(text(), Qt::ElideRight, contentsRect().width());
}

bool ElidedLabel::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) setToolTip(fitting() == text() ? QString() : text());
  return QLabel::event(event);
}

void ElidedLabel::paintEvent(QPaintEvent* event) {
  const QString shown = fitting();
  if (shown == text()) return QLabel::paintEvent(event);
  QPainter painter(this);
  painter.setPen(palette().color(foregroundRole()));
  painter.drawText(contentsRect(), Qt::AlignLeft | Qt::AlignVCenter, shown);
}

}  // namespace jointer::views
