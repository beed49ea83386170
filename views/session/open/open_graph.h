#pragma once

#include <QObject>
#include <QString>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/open/open.h"
#include "views/session/open/selection.h"
#include "views/session/snapshot/measured_timeline.h"
#include "views/session/snapshot/snapshot.h"
#include "views/session/work/task.h"

namespace jointer::views {

// An open graph: its snapshot, measurements and selection. A Document adds edits and policies.
class OpenGraph : public QObject {
  Q_OBJECT
 public:
  OpenGraph(OpenRequest source, SnapshotPtr snapshot, QObject* parent = nullptr);

  [[nodiscard]] const Snapshot& snapshot() const { return *state_.now; }
  // The current snapshot as a shared pointer, which stays valid when a newer snapshot replaces it,
  // and can be used on other threads.
  [[nodiscard]] SnapshotPtr shared_snapshot() const { return state_.now; }
  // The graph as opened, analyzed with the same options as the current one.
  [[nodiscard]] SnapshotPtr baseline() const { return state_.baseline; }
  [[nodiscard]] const Graph& graph() const { return snapshot().graph; }
  // Returns true if the node exists. A selected node may no longer exist, for example after the
  // edit that added it was undone.
  [[nodiscard]] bool has(NodeId node) const {
    return node && node.index() < graph().node_count() && graph().is_live(node);
  }
  // Returns those of the nodes that exist in the graph.
  [[nodiscard]] std::vector<NodeId> existing(std::vector<NodeId> nodes) const {
    std::erase_if(nodes, [this](NodeId node) { return !has(node); });
    return nodes;
  }
  [[nodiscard]] const Analysis& analysis() const { return snapshot().analysis; }
  [[nodiscard]] Selection& selection() { return selection_; }
  [[nodiscard]] const Selection& selection() const { return selection_; }
  // The request with which the graph was opened.
  [[nodiscard]] const OpenRequest& source() const { return source_; }
  [[nodiscard]] QString title() const;

  // The moment that panes show: the selected one or, if there is none, the peak.
  [[nodiscard]] std::size_t moment() const;
  // The point in the memory profile after the node's allocations; nullopt if the node does not run.
  [[nodiscard]] std::optional<std::size_t> moment_of(NodeId node) const {
    return analysis().memory.point_of(node);
  }

  // --- New states ---

  using Job = std::function<Result<DocumentState>(const DocumentState& state)>;
  // Receives the job's error, or success once the job's state is current, before `changed` is
  // emitted.
  using Done = std::function<void(const Result<void>& result)>;
  // Runs jobs on a worker thread, one at a time. Each receives the state left by the previous one.
  // To apply an edit, call Editing::apply, which adds it to the history.
  void add_job(Job job, Done done = {});
  // The options and the assumptions of the latest analysis that was requested, finished or not. To
  // change one of them, start from these: the snapshot lacks those that are not analyzed yet.
  [[nodiscard]] const AnalysisOptions& wanted_options() const;
  [[nodiscard]] const Assumptions& wanted_assumptions() const;

  // --- Measurements ---
  // The available measurements: the ranks of one run, then imports.
  [[nodiscard]] const std::vector<MeasurementPtr>& measurements() const { return measurements_; }
  // The measurement shown with the estimates, or null. Valid until another one is shown or the
  // graph changes.
  [[nodiscard]] const MeasuredTimeline* measured() const { return measured_.get(); }
  // Shows one of `measurements`, or none if null.
  void show_measurement(const MeasurementPtr& measurement);
  // Replaces the ranks of the previous run and shows the first of the new ones. An empty list only
  // removes the old ones.
  void set_run(std::vector<MeasurementPtr> ranks);
  // Adds an imported measurement and shows it.
  void add_import(MeasurementPtr measurement);

 public slots:
  // Recompute the analysis of the graph and of the baseline on a worker thread; `changed` or
  // `failed` follows. A newer request replaces an unfinished one. If it lacks options or
  // assumptions, it takes over those of the unfinished one.
  void analyze_with(const jointer::AnalysisOptions& options);
  void analyze_with(const jointer::AnalysisOptions& options,
                    const jointer::Assumptions& assumptions);
  void assume(const jointer::Assumptions& assumptions);

 signals:
  void busy_changed(bool busy);
  void changed();
  // Emitted after all receivers of `changed` have run.
  void shown();
  // New measured costs were saved in the cost database, and estimates can use them.
  void costs_changed();
  // The shown measurement or the list of measurements has changed.
  void measurement_changed();
  void failed(const QString& message);

 private:
  struct AnalysisRequest {
    std::optional<Assumptions> assumptions;  // nullopt: those of the graph when the job starts
    AnalysisOptions options;
  };
  struct QueuedJob {
    Job job;
    Done done;
    std::optional<AnalysisRequest> analysis = std::nullopt;  // nullopt for other jobs
    bool is_dropped = false;  // replaced by a newer analysis: its result and `done` are ignored
  };
  // The latest analysis that is pending or running; null if there is none.
  [[nodiscard]] const AnalysisRequest* unfinished_request() const;
  void analyze(AnalysisRequest request);
  void add(QueuedJob queued);
  void start();
  void finish(const Result<DocumentState>& result);
  void overlay_measurement(const MeasurementPtr& measurement);

  OpenRequest source_;
  DocumentState state_;
  std::deque<QueuedJob> jobs_;  // the first one is running
  Task<DocumentState> task_;
  std::vector<MeasurementPtr> measurements_;  // the ranks of a run, then imports
  std::size_t run_count_ = 0;                 // number of ranks in `measurements_`
  MeasuredTimelinePtr measured_;
  Selection selection_;
};

}  // namespace jointer::views
