#pragma once

#include <QObject>
#include <QString>
#include <memory>

#include "views/session/document/document.h"
#include "views/session/sac/sac_state.h"
#include "views/session/work/task.h"

namespace jointer::views {

// The pair that the plan of `state` produces, in the plan's order, analyzed with the same options.
// `state` must be that of a joint graph. Errors: see ordered_graph and make_snapshot.
Result<SnapshotPtr> pair_of(const SacState& state);

// A joint graph as partitioned: the pair that the plan produces, as a separate read-only document.
// Its estimates are those of the plan in its order. The pair is built on a worker thread, only on
// request, and follows the plan. Nodes selected in one of the two documents are also selected in
// the other (counterpart.h), and both have the same marks. The hits of a search in the joint graph
// are also hits in the pair.
class Partitioned : public QObject {
  Q_OBJECT
 public:
  // `joint` must outlive this object, and its graph must be a joint graph.
  explicit Partitioned(Document& joint, QObject* parent = nullptr);
  ~Partitioned() override;

  // Builds the pair and keeps it up to date, or stops doing so. A pair that has been built is kept.
  void set_wanted(bool is_wanted);
  [[nodiscard]] bool is_wanted() const { return is_wanted_; }
  // Null until the pair has been built.
  [[nodiscard]] Document* document() const { return pair_.get(); }
  // Returns true if the document shows the pair of the current plan.
  [[nodiscard]] bool is_current() const;

 signals:
  // The first pair was built. For later ones, the document emits `changed`.
  void built();
  // The pair could not be built; `sentence` says why.
  void failed(const QString& sentence);

 private:
  // Returns true if the pair of the current plan has been built. The document may not show it yet.
  [[nodiscard]] bool is_built() const;
  void follow();
  void take(const SacStatePtr& state, const SnapshotPtr& pair);
  void select(const Document& from, Document& to);
  void share_hits();

  Document& joint_;
  std::unique_ptr<Document> pair_;
  SacStatePtr built_;  // the state that the latest pair was built for
  int arriving_ = 0;   // number of pairs that the document will show next
  Task<SnapshotPtr> building_;
  bool is_wanted_ = false, is_selecting_ = false;
};

}  // namespace jointer::views
