#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <vector>

#include "core/capture/open.h"
#include "views/document/selection.h"
#include "views/document/snapshot.h"
#include "views/document/state_queue.h"
#include "views/timeline/measured_timeline.h"

namespace jointer::views {

class Editing;
class SacSession;

// One open graph: what it is, what is computed of it, what was measured of it, what is selected in
// it, how it was edited. Panes hold a document and listen; nobody holds a window.
class Document : public QObject {
  Q_OBJECT
 public:
  Document(OpenRequest source, SnapshotPtr snapshot, QObject* parent = nullptr);
  ~Document() override;
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  [[nodiscard]] const Snapshot& snapshot() const { return *queue_.state().now; }
  // To keep what is shown while a newer one may take its place, and for work on other threads.
  [[nodiscard]] SnapshotPtr shared_snapshot() const { return queue_.state().now; }
  // The graph as it was opened, computed under the same options.
  [[nodiscard]] SnapshotPtr baseline() const { return queue_.state().baseline; }
  [[nodiscard]] Editing& editing() const { return *editing_; }
  [[nodiscard]] SacSession& sac() const { return *sac_; }
  [[nodiscard]] const Graph& graph() const { return snapshot().graph; }
  // A selection may outlive nodes: an edit that added them is undone.
  [[nodiscard]] bool has(NodeId node) const {
    return node && node.index() < graph().node_count() && graph().is_live(node);
  }
  [[nodiscard]] const Analysis& analysis() const { return snapshot().analysis; }
  [[nodiscard]] Selection& selection() { return selection_; }
  [[nodiscard]] const Selection& selection() const { return selection_; }
  // Where it came from.
  [[nodiscard]] const OpenRequest& source() const { return source_; }
  [[nodiscard]] QString title() const;

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
  // Computes anew on a working thread, the baseline too; `changed` follows, or `failed`. A newer
  // request replaces one that is under way.
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
  void take_state();
  void lay_over(const MeasurementPtr& measurement);

  OpenRequest source_;
  StateQueue queue_;
  std::vector<MeasurementPtr> measurements_;  // those of a run come first
  std::size_t run_count_ = 0;                 // how many they are
  MeasuredTimelinePtr measured_;
  Selection selection_;
  std::unique_ptr<Editing> editing_;
  std::unique_ptr<SacSession> sac_;
};

}  // namespace jointer::views
