#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <optional>

#include "core/bench/request.h"
#include "core/bench/result.h"
#include "views/session/snapshot/snapshot.h"

namespace jointer::views {

// A requested run.
struct BenchmarkJob {
  BenchmarkRequest request;  // names the files that the graph was opened from
  SnapshotPtr snapshot;      // the graph to run
  QString title;             // title of the graph's document
  bool is_edited = false;    // the files contain the graph before it was edited
  bool any_size = false;     // start the ranks even if they are predicted not to fit in memory
};

// Runs benchmarks one at a time, since concurrent runs would slow each other down. Panes use this
// interface and do not depend on processes: the desktop starts one process per rank, and tests use
// fakes. All functions are called, and all signals emitted, on the window's thread.
class BenchmarkService : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  // The devices of this machine: "AMD EPYC 7763, 2 logical CPUs", "NVIDIA H200".
  [[nodiscard]] virtual QStringList devices() const = 0;
  // Why a backend or device is not available here; empty if it is available.
  [[nodiscard]] virtual QString why_not(Backend backend) const = 0;
  [[nodiscard]] virtual QString why_not(RunOn on) const = 0;
  // The number of ranks that the graph's collectives require.
  [[nodiscard]] virtual int world_size(const Graph& graph) const = 0;
  // The title of the document for which a benchmark is running, if any.
  [[nodiscard]] virtual std::optional<QString> running() const = 0;

  // Starts a run and returns its number, which identifies it in signals; `finished`, `failed` or
  // `too_large` follows. Must not be called during a run.
  virtual quint64 start(const BenchmarkJob& job) = 0;
  // Stops all ranks; `finished` follows. Ignored if `run` is not the current run.
  virtual void cancel(quint64 run) = 0;

 signals:
  void running_changed();
  void progressed(quint64 run, const jointer::BenchmarkResult& so_far);
  // `cancelled`: the user cancelled the run, so the result contains only what the ranks had
  // reported by then.
  void finished(quint64 run, const jointer::BenchmarkResult& result, bool cancelled);
  // The ranks are predicted not to fit in this machine's memory, so none was started.
  void too_large(quint64 run, const QString& why);
  // The run ended without a result, for example because it could not be started.
  void failed(quint64 run, const QString& why);
};

}  // namespace jointer::views
