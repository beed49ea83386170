#pragma once

#include <QObject>
#include <QString>
#include <memory>

#include "core/capture/compile_artifacts.h"
#include "views/session/kernels/snapshot_kernels.h"
#include "views/session/work/task.h"

namespace jointer::views {

class OpenGraph;

// The kernels of a compilation whose artifacts the user has opened, tied to an open graph. Files
// are read, and kernels are tied, on worker threads; source code is stored, but never run. When the
// graph changes, the kernels are tied to its new state; until that is done, or if it fails, those
// tied to the previous state are kept.
class OpenedKernels : public QObject {
  Q_OBJECT
 public:
  // `open` must outlive this object.
  explicit OpenedKernels(OpenGraph& open, QObject* parent = nullptr);

  // Reads a file, or all files in a folder (read_compile_artifacts). If that fails, the artifacts
  // that are open stay open.
  void read(const QString& path);
  // Forgets the artifacts, and stops reading.
  void close();

  // Null unless artifacts are open.
  [[nodiscard]] const SnapshotKernelsPtr& shown() const { return shown_; }
  // Returns true if `shown` is null or is tied to the current graph.
  [[nodiscard]] bool is_current() const;
  [[nodiscard]] bool is_reading() const { return reading_.is_running(); }

 signals:
  // `shown` has changed, or `close` has stopped reading.
  void changed();
  // The user has opened other artifacts. Emitted after `changed`, and not when kernels are only
  // tied again.
  void opened();
  // Artifacts cannot be read, or do not belong to the graph.
  void failed(const QString& message);

 private:
  struct Opened {
    std::shared_ptr<const CompileArtifacts> artifacts;
    SnapshotPtr snapshot;
    SnapshotKernelsPtr kernels;
  };

  void follow();
  void take(Result<Opened> result);

  OpenGraph& open_;
  Task<Opened> reading_;
  std::shared_ptr<const CompileArtifacts> artifacts_;
  SnapshotKernelsPtr shown_;
  std::weak_ptr<const Snapshot> refused_;  // the state to which the artifacts could not be tied
};

}  // namespace jointer::views
