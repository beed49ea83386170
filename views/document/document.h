#pragma once

#include <QFutureWatcher>
#include <QObject>
#include <QString>
#include <vector>

#include "core/capture/open.h"
#include "views/document/selection.h"
#include "views/document/snapshot.h"
#include "views/timeline/measured_timeline.h"

namespace jointer::views {

// One open graph: what it is, what is computed of it, what was measured of it, what is selected in
// it. Panes hold a document and listen; nobody holds a window.
class Document : public QObject {
  Q_OBJECT
 public:
  Document(OpenRequest source, SnapshotPtr snapshot, QObject* parent = nullptr);

  [[nodiscard]] const Snapshot& snapshot() const { return *snapshot_; }
  // To keep what is shown while a newer one may take its place, and for work on other threads.
  [[nodiscard]] SnapshotPtr shared_snapshot() const { return snapshot_; }
  [[nodiscard]] const Graph& graph() const { return snapshot_->graph; }
  // A selection may outlive nodes: an edit that added them is undone.
  [[nodiscard]] bool has(NodeId node) const { return node && node.index() < graph().node_count(); }
  [[nodiscard]] const Analysis& analysis() const { return snapshot_->analysis; }
  [[nodiscard]] Selection& selection() { return selection_; }
  [[nodiscard]] const Selection& selection() const { return selection_; }
  // Where it came from.
  [[nodiscard]] const OpenRequest& source() const { return source_; }
  [[nodiscard]] QString title() const;
  [[nodiscard]] bool is_busy() const { return watcher_.isRunning(); }

  // The moment that panes show: the selected one, else the peak.
  [[nodiscard]] std::size_t moment() const;
  // Points of the memory profile of a node that runs: after its allocations.
  [[nodiscard]] std::optional<std::size_t> moment_of(NodeId node) const;

  // --- What was measured ---
  // What there is to choose from: the ranks of one run, then what was imported.
  [[nodiscard]] const std::vector<MeasurementPtr>& measurements() const { return measurements_; }
  // What is laid over the estimates, null for nothing. Valid until it changes.
  [[nodiscard]] const MeasuredTimeline* measured() const { return measured_.get(); }
  // One of those there are, or null for none.
  void show_measurement(const MeasurementPtr& measurement);
  // In place of those of another run; the first one is shown. None: nothing of a run is left.
  void set_run(std::vector<MeasurementPtr> ranks);
  // Stays to choose from, and is shown.
  void add_import(MeasurementPtr measurement);

 public slots:
  // Computes anew on a working thread; `changed` follows, or `failed`. A newer request replaces one
  // that is under way.
  void analyze_with(const jointer::AnalysisOptions& options);
  void assume(const jointer::Assumptions& assumptions);

 signals:
  void busy_changed(bool busy);
  void changed();
  // Costs were measured: there are more to estimate by.
  void costs_changed();
  // Another measurement is shown, or there are others to choose from.
  void measurement_changed();
  void failed(const QString& message);

 private:
  void start(std::optional<Assumptions> assumptions, const AnalysisOptions& options);
  void take_result();
  void lay_over(const MeasurementPtr& measurement);

  OpenRequest source_;
  SnapshotPtr snapshot_;
  std::vector<MeasurementPtr> measurements_;  // those of a run come first
  std::size_t run_count_ = 0;                 // how many they are
  MeasuredTimelinePtr measured_;
  Selection selection_;
  QFutureWatcher<Result<SnapshotPtr>> watcher_;
};

}  // namespace jointer::views
