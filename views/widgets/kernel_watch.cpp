#include "views/widgets/kernel_watch.h"

#include <QEvent>
#include <QTimer>

#include "views/session/kernels/predicted_kernels.h"

namespace jointer::views {

KernelWatch::KernelWatch(Document& document, QWidget& seen, bool is_needed)
    : document_(document), seen_(seen), is_needed_(is_needed) {
  seen_.installEventFilter(this);
  // A widget that is covered by another tab stays visible for Qt.
  connect(&document_, &Document::changed, this, &KernelWatch::follow);
}

KernelWatch::~KernelWatch() {
  document_.kernels().stop_watching(*this);
}

void KernelWatch::set_needed(bool is_needed) {
  is_needed_ = is_needed;
  follow();
}

void KernelWatch::follow() {
  if (is_needed_ && seen_.isVisible() && !seen_.visibleRegion().isEmpty())
    document_.kernels().watch(*this);
  else
    document_.kernels().stop_watching(*this);
}

bool KernelWatch::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Show)  // layouts place the widget first
    QTimer::singleShot(0, this, &KernelWatch::follow);
  else if (event->type() == QEvent::Hide)
    document_.kernels().stop_watching(*this);
  else if (event->type() == QEvent::Paint && is_needed_)  // only what is seen is painted
    document_.kernels().watch(*this);
  return QObject::eventFilter(watched, event);
}

}  // namespace jointer::views
