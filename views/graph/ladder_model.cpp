#include "views/graph/ladder_model.h"

#include <algorithm>
#include <utility>

#include "views/session/sac/sac_session.h"
#include "views/session/sac/step_state.h"

namespace jointer::views {

LadderModel::LadderModel(Document& document, int width)
    : document_(document), snapshot_(document.shared_snapshot()), width_(width) {
  connect(&document_, &Document::changed, this, &LadderModel::follow_document);
  connect(&document_.sac(), &SacSession::changed, this, &LadderModel::follow_plan);
  connect(&document_.sac().tags(), &StepTags::found, this, &LadderModel::follow_tags);
  connect(&groups_, &GroupQueue::laid_out, this, [this] {
    relayout();
    if (groups_.pending() == 0) emit settled();
  });
  connect(&groups_, &GroupQueue::failed, this, [this](const QString& why) {
    emit layout_failed(tr("Rows whose nodes could not be laid out stay collapsed: %1").arg(why));
    if (groups_.pending() == 0) emit settled();
  });
  ladder_ = std::make_unique<Ladder>(snapshot_->graph, snapshot_->analysis);
  show_plan();
  colors_ = std::make_unique<const LadderColors>(*snapshot_, *ladder_, LadderColor::time);
  // A single top-level row would show nothing useful if it were collapsed.
  if (ladder_->rows().size() > 1 && ladder_->row(0).end == static_cast<int>(ladder_->rows().size()))
    expansion_.open(*ladder_, 0);
  relayout();
}

// --- The document ---

void LadderModel::follow_document() {
  emit graph_about_to_change();
  snapshot_ = document_.shared_snapshot();
  ladder_ = std::make_unique<Ladder>(snapshot_->graph, snapshot_->analysis);
  shows_plan_ = false;
  show_plan();
  colors_ = std::make_unique<const LadderColors>(*snapshot_, *ladder_, colors_->by());
  // Lay out now, so that expanded rows do not collapse for a frame.
  lay_out_open_groups_now();
  relayout();
}

// A plan determines only the rungs; the rows stay the same.
void LadderModel::follow_plan() {
  const SacStatePtr state = document_.sac().state();
  // An expired `plan_` equals a missing state, even if the rungs of its plan are still shown.
  if (plan_.lock() == state && (state || !shows_plan_)) return;
  emit graph_about_to_change();
  show_plan();
  relayout();
}

// The tags of the step have been applied.
void LadderModel::follow_tags() {
  if (shows_plan_ || !document_.sac().tags().known(snapshot_)) return;
  emit graph_about_to_change();
  show_plan();
  relayout();
}

// Shows the plan of the document's SAC session if it belongs to this graph. Otherwise shows that of
// a flat training step's own tags, and none for other graphs.
void LadderModel::show_plan() {
  const SacStatePtr state = document_.sac().state();
  plan_ = state;
  const bool fits = is_plan_for(state, snapshot_->graph);
  const bool showed_plan = std::exchange(shows_plan_, fits);
  const bool is_step = sac_kind(snapshot_->graph) == SacKind::step;
  if (fits)
    ladder_->show_plan(state->base ? state->base->partition.joint : snapshot_->graph, state->plan,
                       state->snapshot->analysis.options.memory);
  else if (showed_plan)
    ladder_->show_no_plan(snapshot_->graph, snapshot_->analysis.memory);
  if (!fits && is_step) show_plan_of_step();
}

// Shows the plan of a flat training step as its SAC session will, which may not be started.
void LadderModel::show_plan_of_step() {
  const auto& options = snapshot_->analysis.options.memory;
  if (has_step_tags(snapshot_->graph)) {
    if (const auto outcome = document_.sac().tags().find(snapshot_))
      ladder_->show_plan(snapshot_->graph, outcome->plan, options);
  } else if (const auto plan = plan_of_tags(snapshot_->graph)) {
    ladder_->show_plan(snapshot_->graph, *plan, options);
  }
}

void LadderModel::lay_out_open_groups_now() {
  std::vector<GroupGraphs> groups;
  for (int row = 0; row < static_cast<int>(ladder_->rows().size()); ++row) {
    if (!is_open(row))
      row = ladder_->row(row).end - 1;
    else if (ladder_->is_leaf(row))
      groups.push_back(group_graphs(snapshot_->graph, *ladder_, row));
  }
  groups_.lay_out_now(std::move(groups));
}

// --- Layout ---

void LadderModel::relayout() {
  LadderStyle style;
  style.width = std::max(width_, 1);
  layout_ = std::make_unique<const LadderLayout>(*ladder_, expansion_, style, [this](int leaf) {
    return groups_.find_or_request(group_graphs(snapshot_->graph, *ladder_, leaf));
  });
  groups_.start();
  emit layout_changed();
}

void LadderModel::set_width(int width) {
  width_ = width;
  relayout();
}

void LadderModel::open_row(int row, LadderSide side) {
  if (is_open(row)) return;
  emit rows_about_to_change(row, side);
  expansion_.open(*ladder_, row);
  relayout();
}

void LadderModel::close_row(int row, LadderSide side) {
  if (!is_open(row)) return;
  emit rows_about_to_change(row, side);
  expansion_.close(*ladder_, row);
  relayout();
}

void LadderModel::set_all(int row, LadderSide side, bool open) {
  emit rows_about_to_change(row, side);
  const int end = row < 0 ? static_cast<int>(ladder_->rows().size()) : ladder_->row(row).end;
  for (int r = std::max(row, 0); r < end; ++r)
    open ? expansion_.open(*ladder_, r) : expansion_.close(*ladder_, r);
  relayout();
}

void LadderModel::open_path(int row) {
  emit rows_about_to_change(row, LadderSide::forward);
  for (; row >= 0; row = ladder_->row(row).parent) expansion_.open(*ladder_, row);
  relayout();
}

void LadderModel::set_color(LadderColor color) {
  if (color == colors_->by()) return;
  colors_ = std::make_unique<const LadderColors>(*snapshot_, *ladder_, color);
  emit color_changed(color);
}

}  // namespace jointer::views
