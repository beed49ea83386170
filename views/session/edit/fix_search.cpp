#include "views/session/edit/fix_search.h"

#include <utility>

#include "views/session/edit/editing.h"
#include "views/session/open/open_graph.h"

namespace jointer::views {

FixSearch::FixSearch(OpenGraph& open, Editing& editing, QObject* parent)
    : QObject(parent), open_(open), editing_(editing) {
  connect(&open_, &OpenGraph::changed, this, &FixSearch::forget);
  // A request may have been waiting for the refused edit.
  connect(&editing_, &Editing::refused, this, &FixSearch::apply_pending);
}

void FixSearch::want(std::vector<NodeId> starts) {
  wanted_ = std::move(starts);
  if (!wanted_.empty() || to_apply_) return pump();
  finding_.cancel();
  finder_.reset();
}

CollectiveFixesPtr FixSearch::found(NodeId start) const {
  const auto at = found_.find(start.value());
  return at == found_.end() ? nullptr : at->second;
}

void FixSearch::forget() {
  finding_.cancel();
  finder_.reset();
  found_.clear();
  std::erase_if(wanted_, [this](NodeId start) { return !open_.has(start); });
  if (to_apply_ && !open_.has(to_apply_->start)) to_apply_.reset();
  emit forgotten();
  pump();
}

void FixSearch::pump() {
  if (finding_.is_running()) return;
  NodeId next;
  if (to_apply_ && !found(to_apply_->start)) next = to_apply_->start;
  for (std::size_t i = 0; !next && i < wanted_.size(); ++i)
    if (!found(wanted_[i])) next = wanted_[i];
  if (!next) return;
  if (!finder_) {
    graph_ = open_.shared_snapshot();
    finder_ = std::make_shared<FixFinder>(graph_, move_limit(*graph_, *open_.baseline()));
  }
  finding_.start(
      [finder = finder_, next](const Cancellation& job) { return finder->find(next, job.flag()); },
      [this, next](const Result<CollectiveFixes>& fixes) { take(next, fixes); });
}

void FixSearch::take(NodeId start, const Result<CollectiveFixes>& fixes) {
  CollectiveFixes known;
  if (fixes)
    known = *fixes;
  else
    for (CollectiveFix& each : known.by_kind) each.why_not = fixes.error().message;
  found_[start.value()] = std::make_shared<const CollectiveFixes>(std::move(known));
  emit fixes_found(start);
  apply_pending();
  pump();
}

void FixSearch::apply_best(NodeId start) {
  to_apply_ = Fix{start, std::nullopt};
  apply_pending();
  pump();
}

void FixSearch::apply(NodeId start, FixKind kind) {
  to_apply_ = Fix{start, kind};
  apply_pending();
  pump();
}

// Does nothing while edits are being applied: they make the results outdated, so `forget` will
// discard these. Called again when new results arrive or an edit is refused.
void FixSearch::apply_pending() {
  if (!to_apply_ || !editing_.is_settled() || graph_ != open_.shared_snapshot()) return;
  const CollectiveFixesPtr fixes = found(to_apply_->start);
  if (!fixes) return;
  const Fix chosen = *std::exchange(to_apply_, std::nullopt);
  const FixKind kind = chosen.kind ? *chosen.kind : fixes->best().value_or(FixKind::with_chains);
  const CollectiveFix& fix = fixes->of(kind);
  if (fix.edit) return editing_.apply(*fix.edit);
  emit refused(QString::fromStdString(fix.why_not));
}

}  // namespace jointer::views
