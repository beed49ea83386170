#include "views/session/document/shown_range.h"

#include <QScopedValueRollback>
#include <utility>

#include "views/session/document/document.h"
#include "views/session/document/mapped_range.h"

namespace jointer::views {

ShownRange::ShownRange(Document& own) : own_(own), shown_(&own) {
  connect(&own_.selection(), &Selection::range_changed, this, &ShownRange::follow_range);
  connect(&own_.selection(), &Selection::moment_changed, this, [this] {
    if (shown_ == &own_) emit moment_changed();
  });
}

std::optional<TimeRange> ShownRange::range() const {
  return shown_->selection().range();
}

const RangeFiguresPtr& ShownRange::figures() const {
  if (is_partitioned()) return document().shown_range().figures();
  const SnapshotPtr now = own_.shared_snapshot();
  if (figures_ && figures_range_ == range() && figures_of_.lock() == now) return figures_;
  figures_range_ = range();
  figures_of_ = now;
  figures_ = figures_range_ ? range_figures(*now, *figures_range_) : whole_step_figures(*now);
  return figures_;
}

void ShownRange::move_to(Document& shown) {
  if (&shown == shown_) return;
  Document& before = *std::exchange(shown_, &shown);
  if (&before != &own_) {
    before.disconnect(this);
    before.selection().disconnect(this);
  }
  if (&shown != &own_) {
    const Selection* selection = &shown.selection();
    connect(selection, &Selection::range_changed, this, &ShownRange::follow_range);
    connect(selection, &Selection::nodes_changed, this, &ShownRange::follow_nodes);
    connect(selection, &Selection::moment_changed, this, &ShownRange::moment_changed);
    connect(&shown, &Document::changed, this, &ShownRange::follow_graph);
  }
  timeline_ = &shown == &own_ ? nullptr : shown.shared_snapshot();
  move_range(before, shown);
  emit timeline_changed();
}

void ShownRange::move_range(Document& before, Document& shown) {
  const auto range = before.selection().range();
  if (!range) return;
  const auto mapped = mapped_range(before.snapshot(), *range, shown.snapshot());
  {
    const QScopedValueRollback moving(is_moving_, true);
    before.selection().set_range(std::nullopt);
    shown.selection().set_range(mapped);
  }
  follow_range();
  if (mapped) return;
  emit cleared(&shown == &own_
                   ? tr("Range cleared: it contains only nodes that are recomputed or that the "
                        "joint graph does not run.")
                   : tr("Range cleared: none of its nodes run in the graph as partitioned."));
}

void ShownRange::forget_pair() {
  if (shown_ == &own_) return;
  shown_->disconnect(this);
  shown_->selection().disconnect(this);
  shown_ = &own_;
  pair_.reset();
  timeline_.reset();
}

void ShownRange::clear() {
  shown_->selection().set_range(std::nullopt);
}

// Announces a new graph first, so that panes do not look for its nodes in the old one.
void ShownRange::follow_nodes() {
  follow_graph();
  emit nodes_changed();
}

bool ShownRange::follow_graph() {
  if (shown_ != &own_) {
    SnapshotPtr now = shown_->shared_snapshot();
    if (std::exchange(timeline_, now) != now) emit timeline_changed();
  }
  SnapshotPtr pair = is_partitioned() ? shown_->shared_snapshot() : nullptr;
  if (pair == pair_) return false;
  pair_ = std::move(pair);
  emit graph_changed();
  return true;
}

}  // namespace jointer::views
