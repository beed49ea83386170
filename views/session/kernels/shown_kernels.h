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

// The kernels that panes show: the predicted ones in the order that the user has made, those of
// Inductor, or those of a compilation whose artifacts are open.
class ShownKernels : public QObject {
  Q_OBJECT
 public:
  enum class Source : std::uint8_t { predicted, asked, compiled };

  // They must outlive this object. When the user opens artifacts, their kernels are shown.
  ShownKernels(const PredictedKernels& predicted, const KernelOrderEdits& order,
               const AskedKernels& asked, const OpenedKernels& opened, QObject* parent = nullptr);

  [[nodiscard]] Source source() const { return source_; }
  void set_source(Source source);

  // Null if there are none.
  [[nodiscard]] const SnapshotKernelsPtr& shown() const;
  // True if they are of the current graph, or there are none.
  [[nodiscard]] bool is_current() const;
  // Why there are no kernels, in one sentence; empty if they are not known yet or there is no
  // problem.
  [[nodiscard]] const QString& problem() const;

 signals:
  // There are other kernels, or a problem.
  void changed();

 private:
  void follow_opened();

  const PredictedKernels& predicted_;
  const KernelOrderEdits& order_;
  const AskedKernels& asked_;
  const OpenedKernels& opened_;
  Source source_ = Source::predicted;
};

}  // namespace jointer::views
