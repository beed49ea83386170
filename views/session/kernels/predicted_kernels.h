#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <unordered_set>

#include "views/session/kernels/snapshot_kernels.h"
#include "views/session/work/task.h"

namespace jointer::views {

class OpenGraph;

// The predicted kernels of an open graph, computed on a worker thread while at least one object
// watches them. When the graph changes, the computation starts again; until it has ended, the
// kernels of the previous graph are kept.
class PredictedKernels : public QObject {
  Q_OBJECT
 public:
  // `open` must outlive this object.
  explicit PredictedKernels(OpenGraph& open, QObject* parent = nullptr);

  // Keeps the kernels up to date until the watcher stops watching, which it must do before it is
  // destroyed. Without watchers, nothing is computed. A watcher may start and stop several times.
  void watch(const QObject& watcher);
  void stop_watching(const QObject& watcher);

  // The latest kernels; null before the first ones are known, and if the latest prediction failed.
  [[nodiscard]] const SnapshotKernelsPtr& shown() const { return shown_; }
  // Returns true if `shown` is of the current graph.
  [[nodiscard]] bool is_current() const;
  // Why the latest prediction failed, in one sentence; otherwise empty.
  [[nodiscard]] const QString& problem() const { return problem_; }
  [[nodiscard]] bool is_running() const { return soon_.isActive() || finding_.is_running(); }

 signals:
  // `shown` or `problem` has changed, or the kernels are those of the current graph again.
  void changed();

 private:
  void follow_graph();
  void follow();
  void start();
  void take(const SnapshotPtr& snapshot, Result<SnapshotKernelsPtr> found);

  OpenGraph& open_;
  std::unordered_set<const QObject*> watchers_;
  QTimer soon_;  // lets watchers react to a change of the graph first
  Task<SnapshotKernelsPtr> finding_;
  // The snapshot whose kernels are being computed, are shown, or cannot be predicted.
  SnapshotPtr wanted_;
  SnapshotKernelsPtr shown_;
  bool was_current_ = false;  // after the last change of the graph or of the kernels
  QString problem_;
};

}  // namespace jointer::views
