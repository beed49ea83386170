#pragma once

#include <QObject>
#include <functional>
#include <memory>
#include <utility>

#include "views/session/edit/editing.h"

namespace jointer::views {

// Calls `use` once no request of `editing` is pending: immediately, or later from the event loop,
// unless `context` is destroyed first. A request that `use` adds is the next to be done, so the
// next `applied_all` is about that request.
inline void when_settled(const OpenGraph& open, Editing& editing, QObject& context,
                         std::function<void()> use) {
  if (editing.is_settled()) return use();
  auto* waiting = new QObject(&context);
  const auto left = std::make_shared<std::function<void()>>(std::move(use));
  const auto check = [&editing, waiting, left] {
    if (!*left || !editing.is_settled()) return;
    waiting->deleteLater();
    const auto now = std::exchange(*left, nullptr);
    now();  // may destroy the context
  };
  // One of these signals follows each request. They are emitted while the request is still being
  // completed.
  QObject::connect(&open, &OpenGraph::shown, waiting, check, Qt::QueuedConnection);
  QObject::connect(&editing, &Editing::refused, waiting, check, Qt::QueuedConnection);
  QObject::connect(&editing, &Editing::applied_all, waiting, check, Qt::QueuedConnection);
}

}  // namespace jointer::views
