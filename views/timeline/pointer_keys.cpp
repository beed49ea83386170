#include "views/timeline/pointer_keys.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QKeyEvent>
#include <algorithm>
#include <array>

namespace jointer::views {
namespace {

constexpr std::array kKeys{Qt::Key_W, Qt::Key_A, Qt::Key_S, Qt::Key_D};

bool follows_pointer(const QKeyEvent& event) {
  return event.modifiers() == Qt::NoModifier && std::ranges::count(kKeys, event.key()) > 0;
}

// Item views also enable input methods if their current item could be edited, so they are excluded.
bool edits_text(const QWidget& widget) {
  return widget.testAttribute(Qt::WA_InputMethodEnabled) &&
         qobject_cast<const QAbstractItemView*>(&widget) == nullptr;
}

}  // namespace

PointerKeys::PointerKeys(QAbstractScrollArea& view) : QObject(&view), view_(view) {
  view_.viewport()->installEventFilter(this);
}

bool PointerKeys::eventFilter(QObject* watched, QEvent* event) {
  if (watched == view_.viewport()) watch_pointer(event->type());
  const bool is_key =
      event->type() == QEvent::KeyPress || event->type() == QEvent::ShortcutOverride;
  if (!is_over_ || !is_key || !watched->isWidgetType()) return false;
  return redirect(static_cast<QWidget&>(*watched), static_cast<QKeyEvent&>(*event));
}

void PointerKeys::watch_pointer(QEvent::Type type) {
  const bool comes = type == QEvent::Enter || type == QEvent::MouseMove;
  const bool goes = type == QEvent::Leave || type == QEvent::Hide;
  if (comes && !is_over_) qApp->installEventFilter(this);
  if (goes && is_over_) qApp->removeEventFilter(this);
  is_over_ = (is_over_ || comes) && !goes;
}

bool PointerKeys::redirect(QWidget& focused, QKeyEvent& event) {
  if (&focused == &view_ || focused.window() != view_.window() || !follows_pointer(event) ||
      edits_text(focused))
    return false;
  if (event.type() == QEvent::KeyPress) QCoreApplication::sendEvent(&view_, &event);
  event.accept();
  return true;
}

}  // namespace jointer::views
