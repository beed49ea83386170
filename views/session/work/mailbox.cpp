#include "views/session/work/mailbox.h"

#include <QCoreApplication>
#include <QEvent>
#include <utility>

namespace jointer::views {
namespace {

const QEvent::Type kCall = static_cast<QEvent::Type>(QEvent::registerEventType());

}  // namespace

Mailbox::Mailbox() {
  shared_->mailbox = this;
}

Mailbox::~Mailbox() {
  std::deque<std::function<void()>> dropped;
  const std::scoped_lock lock(shared_->mutex);
  shared_->mailbox = nullptr;
  dropped.swap(shared_->calls);
}

void Mailbox::Address::post(std::function<void()> call) const {
  const std::scoped_lock lock(shared_->mutex);
  if (shared_->mailbox == nullptr) return;
  shared_->calls.push_back(std::move(call));
  // Post one event per call, so that calls keep their position among the thread's other events.
  QCoreApplication::postEvent(shared_->mailbox, new QEvent(kCall));
}

bool Mailbox::event(QEvent* event) {
  std::function<void()> call;
  {
    // Read the event under the lock, since another thread wrote it under the lock.
    const std::scoped_lock lock(shared_->mutex);
    if (event->type() == kCall && !shared_->calls.empty()) {
      call = std::move(shared_->calls.front());
      shared_->calls.pop_front();
    }
  }
  if (!call) return QObject::event(event);
  call();  // may delete this
  return true;
}

}  // namespace jointer::views
