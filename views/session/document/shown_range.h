#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <optional>

#include "core/schedule/time_range.h"
#include "views/session/snapshot/range_figures.h"
#include "views/session/snapshot/snapshot.h"

namespace jointer::views {

class Document;

// The range of time that the panes of a document show, and the graph that it is a part of. While
// the timeline shows a joint graph as partitioned, ranges and moments are selected in the pair,
// whose step is different and which runs recomputed nodes twice. Panes then show that range of the
// pair.
//
// The selection of each document has its own range and moment. Only those in the document that the
// timeline shows are used here.
class ShownRange : public QObject {
  Q_OBJECT
 public:
  // `own`: the document that owns this object.
  explicit ShownRange(Document& own);

  // nullopt if panes show the whole step.
  [[nodiscard]] std::optional<TimeRange> range() const;
  // The document that the range is a part of: `own` or its pair. Without a range, `own`. Tables of
  // a range have rows for the nodes of this document.
  [[nodiscard]] Document& document() const { return range() ? *shown_ : own_; }
  // The totals of the range or, without a range, of the whole step, for the graph of `document()`.
  // They are computed for the first caller and shared with the others.
  [[nodiscard]] const RangeFiguresPtr& figures() const;
  // The document that the timeline shows: `own` or its pair.
  [[nodiscard]] Document& in_timeline() const { return *shown_; }
  // Returns true if the range is a part of the pair.
  [[nodiscard]] bool is_partitioned() const { return &document() != &own_; }

  // From now on, uses the range selected in `shown`, which is `own` or its pair. Moves the current
  // range to the nodes that it covers there (mapped_range.h) or, if `shown` does not run any of
  // them, clears it.
  void move_to(Document& shown);
  // Uses `own` again, without a range and without emitting anything. Must be called before the pair
  // is deleted.
  void forget_pair();

 public slots:
  void clear();

 signals:
  // The range has changed within the same graph.
  void range_changed();
  // The range is now a part of a different graph, or there is no range in the pair any longer. New
  // graphs of `own` are announced only by Document::changed.
  void graph_changed();
  // The nodes selected in the pair have changed, while the timeline shows the pair.
  void nodes_changed();
  // The timeline now shows the other document, or another graph of the pair. New graphs of `own`
  // are announced only by Document::changed.
  void timeline_changed();
  // The moment selected in the document that the timeline shows has changed.
  void moment_changed();
  // move_to cleared the range; `sentence` says why.
  void cleared(const QString& sentence);

 private:
  void follow_range() {
    if (!is_moving_ && !follow_graph()) emit range_changed();
  }
  void follow_nodes();
  bool follow_graph();
  void move_range(Document& before, Document& shown);

  Document& own_;
  Document* shown_;
  // The pair's graph when panes were last informed; null if they show `own`.
  SnapshotPtr pair_;
  SnapshotPtr timeline_;  // the same for panes that follow the timeline, with or without a range
  bool is_moving_ = false;

  // The latest totals, and the range and the graph that they belong to.
  mutable RangeFiguresPtr figures_;
  mutable std::optional<TimeRange> figures_range_;
  mutable std::weak_ptr<const Snapshot> figures_of_;
};

}  // namespace jointer::views
