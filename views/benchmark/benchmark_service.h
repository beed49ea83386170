#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <optional>

#include "core/bench/request.h"
#include "core/bench/result.h"
#include "core/capture/open.h"
#include "views/document/snapshot.h"

namespace jointer::views {

// A run that a person asks for.
struct BenchmarkJob {
  BenchmarkRequest request;  // its files are where the graph was opened from
  SnapshotPtr snapshot;      // of the graph that runs
  QString title;             // of its document
  bool is_edited = false;    // since it was opened: the files are the unedited graph
};

// Runs benchmarks, one at a time: two would slow each other down. Panes know this and no process;
// the desktop starts one a rank, tests play a run of their own. Everything is called, and every
// signal comes, on the window's thread.
class BenchmarkService : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  // What there is to run on: "AMD EPYC 7763, 2 cores", "NVIDIA H200".
  [[nodiscard]] virtual QStringList devices() const = 0;
  // Why a backend, or a place to run, is impossible here; empty if it is possible.
  [[nodiscard]] virtual QString why_not(Backend backend) const = 0;
  [[nodiscard]] virtual QString why_not(RunOn on) const = 0;
  // Ranks that the graph's collectives need.
  [[nodiscard]] virtual int world_size(const Graph& graph) const = 0;
  // The document whose graph runs, nothing if none does.
  [[nodiscard]] virtual std::optional<QString> running() const = 0;

  // A number for the run, that signals name; `finished` or `failed` follows. Must not be called
  // while one is running.
  virtual quint64 start(const BenchmarkJob& job) = 0;
  // All its ranks are ended at once; `finished` follows. Of a run that is not, nothing happens.
  virtual void cancel(quint64 run) = 0;

 signals:
  void running_changed();
  void progressed(quint64 run, const jointer::BenchmarkResult& so_far);
  // `cancelled`: by a person; what ranks had said until then is in the result.
  void finished(quint64 run, const jointer::BenchmarkResult& result, bool cancelled);
  // It could not be started.
  void failed(quint64 run, const QString& why);
};

}  // namespace jointer::views
