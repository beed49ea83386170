#include "views/widgets/kernel_watch.h"

#include <QEvent>
#include <QTimer>

namespace jointer::views {

KernelWatch::KernelWatch(Document& document, QWidget& seen, bool is_needed)
    : kernels_(&document.kernels()), seen_(seen), is_needed_(is_needed) {
  seen_.installEventFilter(this);
  // A widget that another tab covers gets no Hide event, so check whenever the graph changes.
  connect(&document, &Document::changed, this, &KernelWatch::follow);
}

KernelWatch::~KernelWatch() {
  watch(false);
}

void KernelWatch::set_needed(bool is_needed) {
  is_needed_ = is_needed;
  follow();
}

void KernelWatch::watch(bool is_on) {
  if (!kernels_) return;
  is_on ? kernels_->watch(*this) : kernels_->stop_watching(*this);
}

void KernelWatch::follow() {
  watch(is_needed_ && seen_.isVisible() && !seen_.visibleRegion().isEmpty());
}

bool KernelWatch::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Show)  // layouts place the widget first
    QTimer::singleShot(0, this, &KernelWatch::follow);
  else if (event->type() == QEvent::Hide)
    watch(false);
  else if (event->type() == QEvent::Paint && is_needed_)  // only what is seen is painted
    watch(true);
  return QObject::eventFilter(watched, event);
}

}  // namespace jointer::views
