#include "views/window/timeline_stack.h"

#include "views/session/document/shown_range.h"
#include "views/session/edit/editing.h"
#include "views/session/edit/move_planner.h"
#include "views/session/sac/sac_state.h"
#include "views/widgets/controls.h"

namespace jointer::views {

TimelineStack::TimelineStack(Document& document, QWidget* parent) : QStackedWidget(parent) {
  own_ = add_page(document, TimelineView::Moves::allowed);
  if (sac_kind(document.graph()) != SacKind::joint) return;
  partitioning_ = std::make_unique<Partitioned>(document);
  own_.bar->offer_partitioned(false);
  connect(partitioning_.get(), &Partitioned::built, this, [this] {
    partitioned_ = add_page(*partitioning_->document(), TimelineView::Moves::none);
    share_choices();
    connect(&own_.view->content(), &TimelineContent::legend_changed, partitioned_.view,
            [this] { share_choices(); });
    choose(partitioning_->is_wanted());
  });
  connect(partitioning_.get(), &Partitioned::failed, this, [this] { choose(false); });
  connect(partitioning_.get(), &Partitioned::failed, &document, &Document::failed);
  // A node that is picked up with a key moves in the joint graph, not in the pair.
  const MovePlanner* planner = &document.editing().planner();
  connect(planner, &MovePlanner::held_changed, this, [this, planner] {
    if (planner->held() != nullptr) choose(false);
  });
}

// Copies the choices of menus, which set them only in the joint graph's timeline, to the pair's.
void TimelineStack::share_choices() {
  const TimelineContent& own = own_.view->content();
  TimelineContent& partitioned = partitioned_.view->content();
  if (partitioned.shows_lane_legend() != own.shows_lane_legend())
    partitioned.set_show_lane_legend(own.shows_lane_legend());
  partitioned.set_show_kernels(own.shows_kernels());
}

// The views are deleted before the document that they show.
TimelineStack::~TimelineStack() {
  delete partitioned_.widget;
}

TimelineView* TimelineStack::shown() const {
  return partitioned_.widget != nullptr && currentWidget() == partitioned_.widget
             ? partitioned_.view
             : own_.view;
}

TimelineStack::Page TimelineStack::add_page(Document& document, TimelineView::Moves moves) {
  Page page{.widget = new QWidget(this)};
  QVBoxLayout* column = make_column(page.widget, {}, 0);
  page.view = new TimelineView(document, page.widget, moves);
  page.bar = new TimelineBar(*page.view, page.widget);
  column->addWidget(page.bar);
  column->addWidget(page.view, 1);
  addWidget(page.widget);
  connect(page.bar, &TimelineBar::partitioned_chosen, this, &TimelineStack::choose);
  return page;
}

// Until the pair has been built, the joint graph stays on screen.
void TimelineStack::choose(bool is_partitioned) {
  partitioning_->set_wanted(is_partitioned);
  own_.bar->offer_partitioned(is_partitioned);
  if (!is_partitioned)
    bring_up(own_);
  else if (partitioned_.widget != nullptr)
    bring_up(partitioned_);
}

void TimelineStack::bring_up(const Page& page) {
  TimelineView* before = shown();
  if (partitioned_.bar != nullptr) partitioned_.bar->offer_partitioned(&page != &own_);
  if (before == page.view) return;
  const bool had_focus = before->hasFocus();
  page.view->content().set_kind(before->content().kind());
  setCurrentWidget(page.widget);
  ShownRange& range = own_.view->content().document().shown_range();
  range.move_to(page.view->content().document());
  if (const auto moved = range.range()) {
    const auto [begin, end] = page.view->content().positions_of(*moved);
    page.view->range().reveal(begin, end);
  }
  if (had_focus) page.view->setFocus();
}

}  // namespace jointer::views
