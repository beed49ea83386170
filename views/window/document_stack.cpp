#include "views/window/document_stack.h"

#include <QFocusEvent>
#include <QTimer>

namespace jointer::views {

DocumentStack::DocumentStack(Make make, QWidget* parent)
    : QStackedWidget(parent), make_(std::move(make)) {
  setFocusPolicy(Qt::StrongFocus);
  empty_ = new QWidget(this);
  addWidget(empty_);
}

void DocumentStack::show_session(Session* session) {
  session_ = session;
  if (QWidget* widget = session == nullptr ? empty_ : widgets_.value(session))
    setCurrentWidget(widget);
  else {
    setCurrentWidget(empty_);
    if (isVisible()) make_soon();
  }
}

QWidget* DocumentStack::shown() const {
  return currentWidget() == empty_ ? nullptr : currentWidget();
}

void DocumentStack::showEvent(QShowEvent* event) {
  make_soon();
  QStackedWidget::showEvent(event);
}

// Creates the widget in a later iteration of the event loop, so that a window with many panes stays
// responsive.
void DocumentStack::make_soon() {
  QTimer::singleShot(0, this, [this] {
    if (isVisible() && is_seen_) make_widget();
  });
}

void DocumentStack::set_seen(bool seen) {
  is_seen_ = seen;
  if (seen) make_soon();
}

void DocumentStack::make_widget() {
  if (session_ == nullptr) return;
  if (!widgets_.contains(session_)) {
    QWidget* widget = make_(*session_);
    widgets_.insert(session_, widget);
    addWidget(widget);
    // A widget must not outlive the document it shows.
    connect(session_, &Session::closing, widget, [this, session = session_] {
      if (session_ == session) session_ = nullptr;
      delete widgets_.take(session);
    });
  }
  setCurrentWidget(widgets_.value(session_));
  if (hasFocus()) currentWidget()->setFocus();
}

// Passes the focus on to the current widget if it has been created.
void DocumentStack::focusInEvent(QFocusEvent* event) {
  QStackedWidget::focusInEvent(event);
  if (QWidget* widget = shown()) widget->setFocus(event->reason());
}

}  // namespace jointer::views
