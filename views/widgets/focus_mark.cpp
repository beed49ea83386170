#include "views/widgets/focus_mark.h"

#include <QEvent>
#include <QPainter>

#include "views/theme/theme.h"

namespace jointer::views {
namespace {

constexpr int kAreaFrame = 2, kWidgetFrame = 1;  // in pixels

QRegion frame_of(const QRect& rect, int width) {
  return QRegion(rect) - rect.adjusted(width, width, -width, -width);
}

}  // namespace

FocusMark::FocusMark(QWidget& area, QWidget& focus) : QWidget(&area), focus_(&focus) {
  setObjectName(QStringLiteral("focus_mark"));
  setAttribute(Qt::WA_TransparentForMouseEvents);
  // A widget gets no event if a widget around it moves.
  for (QWidget* widget = &focus; widget != &area; widget = widget->parentWidget())
    widget->installEventFilter(this);
  area.installEventFilter(this);
  place();
  show();
}

bool FocusMark::eventFilter(QObject* object, QEvent* event) {
  if (event->type() == QEvent::Resize || event->type() == QEvent::Move) place();
  return QWidget::eventFilter(object, event);
}

// The mask limits the mark to its frames, so that it need not be repainted with the rest of the
// area.
void FocusMark::place() {
  if (focus_ == nullptr) return hide();
  setGeometry(parentWidget()->rect());
  const QRect inner(focus_->mapTo(parentWidget(), QPoint()), focus_->size());
  setMask(frame_of(rect(), kAreaFrame) + frame_of(inner & rect(), kWidgetFrame));
  raise();
}

void FocusMark::paintEvent(QPaintEvent* /*event*/) {
  QPainter(this).fillRect(rect(), Theme::of(palette()).accent);
}

}  // namespace jointer::views
