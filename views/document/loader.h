#pragma once

#include <QElapsedTimer>
#include <QFutureWatcher>
#include <QObject>
#include <QString>
#include <QTimer>
#include <atomic>
#include <memory>
#include <vector>

#include "core/capture/open.h"
#include "views/document/snapshot.h"

namespace jointer::views {

// Opens a graph on a working thread: progress while it runs, then `loaded` or `failed`. Deleting it
// cancels the work without waiting for it.
class Loader : public QObject {
  Q_OBJECT
 public:
  Loader(OpenRequest request, AnalysisOptions options, QObject* parent = nullptr);
  ~Loader() override;
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  void start();
  [[nodiscard]] const OpenRequest& request() const { return request_; }

 public slots:
  void cancel();

 signals:
  // `fraction` from 0 to 1; `left_ms` is a guess, below 0 while there is none.
  void progressed(double fraction, const QString& what, qint64 left_ms);
  void loaded(const jointer::views::SnapshotPtr& snapshot);
  // The file holds several graphs and the request names none: which ones, and the error that says
  // so.
  void several(const std::vector<jointer::GraphEntry>& entries, const jointer::Error& error);
  void failed(const jointer::Error& error);
  void cancelled();

 private:
  // What the working thread writes and the window's thread reads.
  struct Shared {
    std::atomic<double> fraction = 0;
    std::atomic<bool> analyzing = false, cancel = false;
    std::vector<GraphEntry> choices;  // read only when the work is done
  };

  void report();
  void finish();

  OpenRequest request_;
  AnalysisOptions options_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  QFutureWatcher<Result<SnapshotPtr>> watcher_;
  QTimer timer_;
  QElapsedTimer elapsed_;
};

}  // namespace jointer::views
