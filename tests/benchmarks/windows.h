#pragma once

// Helpers for benchmarks of windows.

#include <fmt/core.h>

#include <QCoreApplication>
#include <QElapsedTimer>

#include "core/open/open.h"
#include "views/session/snapshot/snapshot.h"

namespace jointer::benchmarks {

// Runs the event loop until `is_done` holds, which it checks every `poll_ms`. False if it takes
// longer than `patience_ms`.
template <class IsDone>
bool wait_for(IsDone is_done, int patience_ms, int poll_ms = 5) {
  QElapsedTimer timer;
  timer.start();
  while (!is_done()) {
    if (timer.elapsed() > patience_ms) return false;
    QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents, poll_ms);
  }
  return true;
}

// Null if the graph cannot be opened; the reason is printed to stderr.
inline views::SnapshotPtr open_snapshot(const char* path) {
  auto graph = open_graph({.path = path});
  auto snapshot =
      graph ? views::make_snapshot(*std::move(graph), {}) : tl::unexpected(graph.error());
  if (!snapshot) fmt::print(stderr, "{}: {}\n", path, snapshot.error().message);
  return snapshot.value_or(nullptr);
}

}  // namespace jointer::benchmarks
