#include "views/session/document/partitioned.h"

#include <string_view>
#include <utility>
#include <vector>

#include "views/session/document/counterpart.h"
#include "views/session/document/shown_range.h"
#include "views/session/sac/ordered_plan.h"
#include "views/session/sac/sac_session.h"

namespace jointer::views {

Result<SnapshotPtr> pair_of(const SacState& state) {
  JOINTER_TRY(Graph pair, ordered_graph(plan_of(state)));
  return make_snapshot(std::move(pair), state.snapshot->analysis.options);
}

Partitioned::Partitioned(Document& joint, QObject* parent) : QObject(parent), joint_(joint) {
  const SacSession* sac = &joint_.sac();
  connect(sac, &SacSession::changed, this, &Partitioned::follow);
  connect(sac, &SacSession::working_changed, this, [this, sac] {
    if (is_wanted_ && !sac->state() && !sac->is_working()) emit failed(sac->problem());
  });
}

Partitioned::~Partitioned() {
  joint_.shown_range().forget_pair();
}

void Partitioned::set_wanted(bool is_wanted) {
  is_wanted_ = is_wanted;
  if (!is_wanted) return building_.cancel();
  joint_.sac().start();
  follow();
}

bool Partitioned::is_built() const {
  const SacStatePtr state = joint_.sac().state();
  return pair_ && state && built_->base == state->base && built_->plan == state->plan &&
         built_->order == state->order && !building_.is_running();
}

bool Partitioned::is_current() const {
  return is_built() && arriving_ == 0;
}

void Partitioned::follow() {
  const SacStatePtr state = joint_.sac().state();
  if (!is_wanted_ || !state || is_built()) return;
  building_.start([state] { return pair_of(*state); },
                  [this, state](const Result<SnapshotPtr>& pair) {
                    if (!pair) return emit failed(QString::fromStdString(pair.error().message));
                    take(state, *pair);
                  });
}

void Partitioned::take(const SacStatePtr& state, const SnapshotPtr& pair) {
  built_ = state;
  if (pair_) {
    ++arriving_;
    return pair_->add_job(
        [pair](const DocumentState&) {
          return DocumentState{pair, pair};
        },
        [this](const Result<void>&) { --arriving_; });
  }
  pair_ = std::make_unique<Document>(joint_.source(), pair);
  pair_->share_marks_of(joint_);
  connect(&joint_.selection(), &Selection::nodes_changed, this, [this] { select(joint_, *pair_); });
  connect(&pair_->selection(), &Selection::nodes_changed, this, [this] { select(*pair_, joint_); });
  connect(&joint_.selection(), &Selection::hits_changed, this, &Partitioned::share_hits);
  // A new pair has different nodes.
  connect(pair_.get(), &Document::changed, this, [this] {
    select(joint_, *pair_);
    share_hits();
  });
  select(joint_, *pair_);
  share_hits();
  emit built();
}

void Partitioned::select(const Document& from, Document& to) {
  if (std::exchange(is_selecting_, true)) return;
  std::vector<NodeId> nodes;
  NodeId current;
  for (const NodeId node : from.selection().nodes()) {
    const NodeId other = from.has(node) ? counterpart(from.graph(), node, to.graph()) : NodeId();
    if (!other) continue;
    nodes.push_back(other);
    if (node == from.selection().current()) current = other;
  }
  to.selection().select_all(std::move(nodes), current);
  is_selecting_ = false;
}

// A call that is recomputed is marked in both halves.
void Partitioned::share_hits() {
  const Graph& pair = pair_->graph();
  std::vector<NodeId> hits;
  for (const NodeId node : joint_.selection().hits()) {
    if (!joint_.has(node)) continue;
    const std::string_view name = joint_.graph().name(node);
    for (std::size_t half = 0; half < pair.part_count(); ++half)
      if (const NodeId run = pair.find(PartId(half), name)) hits.push_back(run);
  }
  pair_->selection().set_hits(std::move(hits));
}

}  // namespace jointer::views
