#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <optional>

#include "core/capture/compiled_trace.h"
#include "views/session/kernels/snapshot_kernels.h"
#include "views/session/work/task.h"

namespace jointer::views {

class OpenedKernels;
class OpenGraph;

// The kernels in a trace of compiled steps that the user has opened, tied to the kernels of an open
// graph: to those of the compilation whose artifacts are open or, if there is none or it does not
// fit the trace, to the predicted ones. Files are read, and kernels are tied, on worker threads.
// After a change of the graph, or when artifacts are opened or closed, the trace is tied again.
// Until then, the kernels of the previous state stay.
class TracedKernels : public QObject {
  Q_OBJECT
 public:
  // Both arguments must outlive this object.
  TracedKernels(OpenGraph& open, const OpenedKernels& compiled, QObject* parent = nullptr);

  // Reads a trace, after any artifacts that are being read. If that fails, the trace that is open
  // stays open.
  void read(const QString& path);
  // Forgets the trace, and stops reading.
  void close();

  // Null unless a trace is open.
  [[nodiscard]] const SnapshotKernelsPtr& shown() const { return shown_; }
  // True if `shown` is of the current graph, or null.
  [[nodiscard]] bool is_current() const;
  [[nodiscard]] bool is_reading() const { return reading_.is_running() || wanted_; }

 signals:
  // `shown` has changed.
  void changed();
  // The user has opened another trace; after `changed`. Not emitted when kernels are tied again.
  void opened();
  // The trace cannot be read, or does not belong to the graph.
  void failed(const QString& message);

 private:
  struct Traced {
    std::shared_ptr<const CompiledTrace> trace;
    SnapshotKernelsPtr kernels;
  };
  // The graph and the compilation that a trace is tied to.
  struct Basis {
    SnapshotPtr snapshot;
    SnapshotKernelsPtr compiled;  // null: none is open, or it is not tied to the snapshot
    friend bool operator==(const Basis&, const Basis&) = default;
  };

  [[nodiscard]] Basis basis_now() const;
  static Result<Traced> tie(const Basis& basis, std::shared_ptr<const CompiledTrace> trace,
                            const Cancellation& job);
  void follow();
  void start_reading(const QString& path);
  void take(const Basis& basis, Result<Traced> result);

  OpenGraph& open_;
  const OpenedKernels& compiled_;
  Task<Traced> reading_;
  std::optional<QString>
      wanted_;  // the file that `read` was called for, until it is read or refused
  std::shared_ptr<const CompiledTrace> trace_;
  SnapshotKernelsPtr shown_;
  Basis tied_;  // that the trace was tied to last, or could not be tied to
};

}  // namespace jointer::views
