#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTimer>
#include <atomic>
#include <memory>
#include <vector>

#include "core/open/open.h"
#include "views/session/snapshot/snapshot.h"
#include "views/session/work/task.h"

namespace jointer::views {

// Opens a graph on a worker thread. Emits `progressed` while it runs, then one of the other
// signals. Destroying the loader cancels the work without waiting for it to end.
class Loader : public QObject {
  Q_OBJECT
 public:
  Loader(OpenRequest request, AnalysisOptions options, QObject* parent = nullptr);

  void start();
  [[nodiscard]] const OpenRequest& request() const { return request_; }

 public slots:
  void cancel();

 signals:
  // `fraction` ranges from 0 to 1; `left_ms` is the estimated time remaining, negative if unknown.
  void progressed(double fraction, const QString& what, qint64 left_ms);
  void loaded(const jointer::views::SnapshotPtr& snapshot);
  // The file contains several graphs, and the request does not choose one; `error` says so.
  void several(const std::vector<jointer::GraphEntry>& entries, const jointer::Error& error);
  void failed(const jointer::Error& error);
  void cancelled();

 private:
  // Written by the worker thread and read by the loader's thread.
  struct Shared {
    std::atomic<double> fraction = 0;
    std::atomic<bool> analyzing = false;
    std::vector<GraphEntry> choices;  // read only after the work has finished
  };

  void report();
  void finish(const Result<SnapshotPtr>& result);

  OpenRequest request_;
  AnalysisOptions options_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  Task<SnapshotPtr> task_;
  QTimer timer_;
  QElapsedTimer elapsed_;
};

}  // namespace jointer::views
