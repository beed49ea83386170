#pragma once

#include <QObject>
#include <QString>
#include <cstdint>

#include "views/session/kernels/snapshot_kernels.h"

namespace jointer::views {

class AskedKernels;
class KernelOrderEdits;
class OpenedKernels;
class PredictedKernels;
class TracedKernels;

// The kernels that panes show: the predicted ones in the order after the user's moves, those that
// Inductor reports, those of a compilation whose artifacts are open, or those that an open trace
// measured.
class ShownKernels : public QObject {
  Q_OBJECT
 public:
  enum class Source : std::uint8_t { predicted, asked, compiled, measured };

  // The sources must outlive this object. When the user opens artifacts or a trace, their kernels
  // are shown; when they are closed, the predicted ones are shown instead.
  ShownKernels(const PredictedKernels& predicted, const KernelOrderEdits& order,
               const AskedKernels& asked, const OpenedKernels& opened, const TracedKernels& traced,
               QObject* parent = nullptr);

  [[nodiscard]] Source source() const { return source_; }
  void set_source(Source source);

  // The kernels; null if the source has none. Times are estimates unless kernels are measured.
  [[nodiscard]] const SnapshotKernelsPtr& shown() const;
  // Returns false if `shown` is known to be of an earlier graph.
  [[nodiscard]] bool is_current() const;
  // Why the source's last prediction or request failed, or why predicted kernels are not shown in
  // the order after the user's moves, in one sentence; otherwise empty. Problems with artifacts and
  // traces are reported by OpenedKernels::failed and TracedKernels::failed.
  [[nodiscard]] const QString& problem() const;
  // Why the kernels of the current graph are not shown, in a few words: "predicting...", "of an
  // earlier graph". Empty if they are.
  [[nodiscard]] QString state_text() const;

 signals:
  // The source, its kernels, their order or the problem has changed.
  void changed();

 private:
  void follow_opened();
  void follow_traced();

  const PredictedKernels& predicted_;
  const KernelOrderEdits& order_;
  const AskedKernels& asked_;
  const OpenedKernels& opened_;
  const TracedKernels& traced_;
  Source source_ = Source::predicted;
};

}  // namespace jointer::views
