#include "views/graph/graph_view.h"

#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "views/session/sac/sac_session.h"
#include "views/session/text/node_text.h"
#include "views/session/work/task.h"

namespace jointer::views {
namespace {

constexpr int kHeader = 24, kLegend = 24, kMinimap = 52;
constexpr int kRelayoutMs = 15;
constexpr double kRevealRoom = 30;

}  // namespace

GraphView::GraphView(Document& document, QWidget* parent)
    : QAbstractScrollArea(parent), document_(document) {
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::StrongFocus);
  viewport()->setMouseTracking(true);
  viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
  setAccessibleName(tr("Graph"));
  setMinimumSize(240, 140);
  pool_.setMaxThreadCount(2);
  relayout_soon_.setSingleShot(true);
  relayout_soon_.setInterval(kRelayoutMs);
  connect(&relayout_soon_, &QTimer::timeout, this, [this] {
    relayout(anchor_);
    if (!pending_.empty()) return;
    if (shown_when_laid_out_) {
      shown_when_laid_out_.reset();
      show_selection();
    }
    if (pending_.empty()) emit settled();
  });
  connect(&document_, &Document::changed, this, &GraphView::take_document);
  connect(&document_.sac(), &SacSession::changed, this, &GraphView::take_plan);
  connect(&document_.selection(), &Selection::nodes_changed, this, &GraphView::follow_selection);
  snapshot_ = document_.shared_snapshot();
  ladder_ = std::make_unique<Ladder>(snapshot_->graph, snapshot_->analysis);
  show_plan();
  colors_ = std::make_unique<const LadderColors>(*snapshot_, *ladder_, LadderColor::time);
  // A ladder with a single row is of no use, so it starts expanded.
  if (ladder_->rows().size() > 1 && ladder_->row(0).end == static_cast<int>(ladder_->rows().size()))
    expansion_.open(*ladder_, 0);
  relayout({});
}

GraphView::~GraphView() {
  pool_.clear();
  wait_on_close(pool_);
}

QRect GraphView::area() const {
  return viewport()->rect().adjusted(0, kHeader, -kMinimap, -kLegend);
}

QRect GraphView::minimap_area() const {
  const QRect all = viewport()->rect();
  return {all.right() + 1 - kMinimap + 6, kHeader, kMinimap - 8, all.height() - kHeader - kLegend};
}

// --- The document ---

void GraphView::take_document() {
  const Anchor anchor = anchor_on_screen();
  snapshot_ = document_.shared_snapshot();
  ladder_ = std::make_unique<Ladder>(snapshot_->graph, snapshot_->analysis);
  show_plan();
  colors_ = std::make_unique<const LadderColors>(*snapshot_, *ladder_, colors_->by());
  hovered_link_.reset();
  // Expanded rows stay expanded in the same frame.
  lay_out_open_groups_now();
  relayout(anchor);
}

// The rows are unchanged; only the rungs are repainted.
void GraphView::take_plan() {
  if (plan_.lock() == document_.sac().state()) return;
  const Anchor anchor = anchor_on_screen();
  show_plan();
  relayout(anchor);
}

void GraphView::show_plan() {
  const SacStatePtr state = document_.sac().state();
  plan_ = state;
  // Until a new graph's plan is ready, the old plan would refer to other nodes.
  if (state && state->can_change() &&
      state->snapshot->graph.node_count() == snapshot_->graph.node_count())
    ladder_->show_plan(state->base ? state->base->partition.joint : snapshot_->graph, state->plan,
                       state->snapshot->analysis.options.memory);
}

void GraphView::lay_out_open_groups_now() {
  std::vector<GroupGraphs> missing;
  for (int row = 0; row < static_cast<int>(ladder_->rows().size()); ++row) {
    if (!expansion_.is_open(*ladder_, row)) {
      row = ladder_->row(row).end - 1;
      continue;
    }
    if (!ladder_->is_leaf(row)) continue;
    GroupGraphs graphs = group_graphs(snapshot_->graph, *ladder_, row);
    if (!groups_.find(graphs)) missing.push_back(std::move(graphs));
  }
  std::vector<GroupLayout> layouts = lay_out_groups(missing, LayoutStyle{}, {.program = {}});
  for (std::size_t i = 0; i < missing.size(); ++i)
    groups_.add(missing[i], std::make_shared<const GroupLayout>(std::move(layouts[i])));
}

void GraphView::follow_selection() {
  if (!is_selecting_) {
    focus_key_.clear();
    shown_when_laid_out_.reset();
  }
  refresh_marks();
  // Rows are not expanded automatically; the row that contains the node is scrolled into view.
  if (!is_selecting_) reveal(document_.selection().current(), kRevealRoom);
  refresh();
}

void GraphView::refresh_marks() {
  const Selection& selection = document_.selection();
  std::vector<NodeId> nodes(selection.nodes().begin(), selection.nodes().end());
  std::erase_if(nodes, [this](NodeId node) {
    return !node || node.index() >= snapshot_->graph.node_count();
  });
  NodeId current = selection.current();
  if (current && current.index() >= snapshot_->graph.node_count()) current = {};
  marks_ = make_marks(snapshot_->graph, snapshot_->users, *ladder_, *layout_, nodes, current);
  marks_.focus_row = focus_key_.empty() ? -1 : ladder_->find(focus_key_);
  marks_.focus_side = focus_side_;
  if (marks_.focus_row < 0 && marks_.current && marks_.current_place.item >= 0 &&
      marks_.current_place.node < 0) {
    marks_.focus_row = layout_->item(marks_.current_place.item).row;
    marks_.focus_side = marks_.current_side;
  }
}

void GraphView::reveal(NodeId node, double room) {
  if (ladder_->row_of(node) < 0 || marks_.current_place.item < 0) return;
  const LadderPlace place = marks_.current_place;
  const LadderItem& item = layout_->item(place.item);
  show_place(place.node < 0 ? layout_->box(item, marks_.current_side)
                            : layout_->node_box(item, marks_.current_side,
                                                static_cast<std::size_t>(place.node)),
             room);
}

void GraphView::show_place(const LadderRect& rect, double room) {
  LadderView view = view_;
  view.show_y(rect.y, rect.bottom(), room);
  // A box wider than the view is visible enough.
  if (rect.width * view.scale < view.width) view.show_x(rect.x, rect.right());
  set_view(view);
}

// --- Layout ---

GraphView::Anchor GraphView::anchor_at(int row, LadderSide side) const {
  const std::int32_t index = layout_->item_of_row(row);
  if (index < 0) return {};
  const LadderItem& item = layout_->item(index);
  const LadderRect box = layout_->box(item, side);
  const double outer = side == LadderSide::forward ? box.x : box.right();
  return {ladder_->row(item.row).key, side, view_.to_x(outer), view_.to_y(box.y)};
}

GraphView::Anchor GraphView::anchor_on_screen() const {
  const auto bands = visible_bands(*layout_, view_);
  if (bands.empty()) return {};
  for (const LadderBand& band : bands)
    if (view_.to_y(band.y) >= 0)
      return anchor_at(layout_->item(band.first).row, LadderSide::forward);
  return anchor_at(layout_->item(bands.front().first).row, LadderSide::forward);
}

void GraphView::relayout(const Anchor& anchor) {
  LadderStyle style;
  style.width = std::max(area().width(), 1);
  layout_ = std::make_unique<const LadderLayout>(*ladder_, expansion_, style,
                                                 [this](int leaf) { return group_of(leaf); });
  lay_out_wanted();
  hovered_link_.reset();
  refresh_marks();
  restore(anchor);
  minimap_ = {};
  refresh();
}

void GraphView::restore(const Anchor& anchor) {
  LadderView view = view_;
  view.width = area().width();
  view.height = area().height();
  // The row of a key may have been removed by an edit.
  if (const int row = anchor.key.empty() ? -1 : ladder_->find(anchor.key); row >= 0) {
    const LadderItem& item = layout_->item(layout_->item_of_row(row));
    const LadderRect box = layout_->box(item, anchor.side);
    const double outer = anchor.side == LadderSide::forward ? box.x : box.right();
    view.x = outer * view.scale - anchor.x;
    view.y = box.y * view.scale - anchor.y;
  }
  set_view(view);
}

GroupLayoutPtr GraphView::group_of(int leaf) {
  GroupGraphs graphs = group_graphs(snapshot_->graph, *ladder_, leaf);
  if (GroupLayoutPtr known = groups_.find(graphs)) return known;
  if (pending_.insert(graphs).second) wanted_.push_back(std::move(graphs));
  return nullptr;
}

// Uses as many jobs as there are threads: starting dot takes longer than most layouts.
void GraphView::lay_out_wanted() {
  if (wanted_.empty()) return;
  std::vector<std::vector<GroupGraphs>> jobs(
      std::min<std::size_t>(static_cast<std::size_t>(pool_.maxThreadCount()), wanted_.size()));
  for (std::size_t i = 0; i < wanted_.size(); ++i)
    jobs[i % jobs.size()].push_back(std::move(wanted_[i]));
  wanted_.clear();
  for (std::vector<GroupGraphs>& job : jobs) {
    const auto work = [job, style = LayoutStyle{}, dot = dot_] {
      return lay_out_groups(job, style, dot);
    };
    const auto take = [this, job](Result<std::vector<GroupLayout>> layouts) {
      if (layouts) return take_groups(job, *std::move(layouts));
      for (const GroupGraphs& graphs : job) pending_.erase(graphs);  // the next layout tries again
    };
    run_in_background(this, work, take, pool_);
  }
}

void GraphView::take_groups(const std::vector<GroupGraphs>& graphs,
                            std::vector<GroupLayout> layouts) {
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    groups_.add(graphs[i], std::make_shared<const GroupLayout>(std::move(layouts[i])));
    pending_.erase(graphs[i]);
  }
  // Layouts that finish at about the same time are shown together.
  if (pending_.empty() || !relayout_soon_.isActive())
    relayout_soon_.start(pending_.empty() ? 0 : kRelayoutMs);
}

void GraphView::open_row(int row) {
  if (is_open(row)) return;
  anchor_ = anchor_at(row, focus_side_);
  expansion_.open(*ladder_, row);
  relayout(anchor_);
}

void GraphView::close_row(int row) {
  if (!is_open(row)) return;
  anchor_ = anchor_at(row, focus_side_);
  expansion_.close(*ladder_, row);
  relayout(anchor_);
}

void GraphView::toggle_row(int row) {
  is_open(row) ? close_row(row) : open_row(row);
}

void GraphView::open_all(int row) {
  anchor_ = row < 0 ? anchor_on_screen() : anchor_at(row, focus_side_);
  const int end = row < 0 ? static_cast<int>(ladder_->rows().size()) : ladder_->row(row).end;
  for (int r = std::max(row, 0); r < end; ++r) expansion_.open(*ladder_, r);
  relayout(anchor_);
}

void GraphView::close_all(int row) {
  anchor_ = row < 0 ? anchor_on_screen() : anchor_at(row, focus_side_);
  const int end = row < 0 ? static_cast<int>(ladder_->rows().size()) : ladder_->row(row).end;
  for (int r = std::max(row, 0); r < end; ++r) expansion_.close(*ladder_, r);
  relayout(anchor_);
  if (row < 0) {
    LadderView view = view_;
    view.y = 0;
    set_view(view);
  }
}

void GraphView::show_selection() {
  const NodeId node = document_.selection().current();
  const int leaf = ladder_->row_of(node);
  if (leaf < 0) return;
  anchor_ = anchor_at(leaf, LadderSide::forward);
  for (int row = leaf; row >= 0; row = ladder_->row(row).parent) expansion_.open(*ladder_, row);
  focus_key_.clear();
  relayout(anchor_);
  // Its nodes may still be waiting for a layout.
  if (!pending_.empty()) shown_when_laid_out_ = node;
  reveal(node, view_.height / 3);
}

// --- The visible part ---

void GraphView::set_view(const LadderView& view) {
  view_ = view;
  set_bars();
  refresh();
}

// The scroll range covers the ladder and the current view, which an anchor may have moved beyond an
// end.
void GraphView::set_bars() {
  is_setting_bars_ = true;
  const auto set = [](QScrollBar* bar, double offset, double size, double whole) {
    const int at = static_cast<int>(std::lround(offset));
    bar->setRange(std::min(0, at),
                  std::max(static_cast<int>(std::ceil(std::max(whole - size, 0.0))), at));
    bar->setPageStep(std::max(static_cast<int>(size), 1));
    bar->setSingleStep(30);
    bar->setValue(at);
  };
  set(horizontalScrollBar(), view_.x, view_.width, layout_->width() * view_.scale);
  set(verticalScrollBar(), view_.y, view_.height, layout_->height() * view_.scale);
  is_setting_bars_ = false;
}

void GraphView::scrollContentsBy(int /*dx*/, int /*dy*/) {
  if (is_setting_bars_) return;
  view_.x = horizontalScrollBar()->value();
  view_.y = verticalScrollBar()->value();
  set_bars();
  refresh();
}

void GraphView::resizeEvent(QResizeEvent* /*event*/) {
  const Anchor anchor = anchor_on_screen();
  relayout(anchor);
}

void GraphView::refresh() {
  frame_.forget();
  viewport()->update();
}

void GraphView::set_color(LadderColor color) {
  if (color == colors_->by()) return;
  colors_ = std::make_unique<const LadderColors>(*snapshot_, *ladder_, color);
  minimap_ = {};
  refresh();
  emit color_changed(color);
}

void GraphView::fit() {
  LadderView view = view_;
  view.fit(*layout_);
  set_view(view);
}

void GraphView::full_size() {
  zoom(1 / view_.scale);
}

void GraphView::zoom(double factor) {
  const QRect at = area();
  const QPoint middle = hover_ && at.contains(*hover_) ? *hover_ - at.topLeft()
                                                       : QPoint(at.width() / 2, at.height() / 2);
  LadderView view = view_;
  view.zoom_at(middle.x(), middle.y(), factor);
  set_view(view);
}

void GraphView::follow_flow(bool forward) {
  const NodeId current = document_.selection().current();
  if (ladder_->row_of(current) < 0) return;
  const auto next = forward ? snapshot_->users.of(current) : snapshot_->graph.inputs(current);
  if (!next.empty()) document_.selection().select(next.front());
}

QRect GraphView::place_of_row(int row, LadderSide side) const {
  const std::int32_t index = layout_->item_of_row(row);
  if (index < 0 || layout_->item(index).row != row) return {};
  const LadderRect box = layout_->box(layout_->item(index), side);
  return QRectF(view_.to_x(box.x) + area().left(), view_.to_y(box.y) + area().top(),
                box.width * view_.scale, box.height * view_.scale)
      .toAlignedRect();
}

QRect GraphView::place_of_node(NodeId node) const {
  const LadderPlace place = layout_->place_of(*ladder_, snapshot_->graph, node);
  if (place.item < 0 || place.node < 0) return {};
  const LadderRect box =
      layout_->node_box(layout_->item(place.item), side_of(snapshot_->graph.node(node)),
                        static_cast<std::size_t>(place.node));
  return QRectF(view_.to_x(box.x) + area().left(), view_.to_y(box.y) + area().top(),
                box.width * view_.scale, box.height * view_.scale)
      .toAlignedRect();
}

}  // namespace jointer::views
