#include "views/inspector/inspector_pane.h"

#include <QEvent>
#include <QScrollBar>
#include <QUrl>
#include <algorithm>

#include "views/inspector/describe_nodes.h"
#include "views/inspector/kernel_of_node.h"
#include "views/inspector/measured_kernel_of_node.h"
#include "views/inspector/why_here.h"
#include "views/session/document/shown_range.h"
#include "views/session/edit/editing.h"
#include "views/session/kernels/shown_kernels.h"
#include "views/session/kernels/traced_kernels.h"
#include "views/session/sac/action_text.h"
#include "views/session/sac/sac_session.h"
#include "views/session/text/node_text.h"
#include "views/theme/fonts.h"
#include "views/theme/spacing.h"
#include "views/widgets/controls.h"
#include "views/widgets/inspector_html.h"
#include "views/widgets/range_bar.h"

namespace jointer::views {
namespace {

QString policy_text(const SacTensor& tensor) {
  const QString action = action_word(tensor.action);
  switch (tensor.decider) {
    case Decider::partitioner:
      return InspectorPane::tr("%1, decided by the partitioner").arg(action);
    case Decider::user:
      return InspectorPane::tr("%1, decided by you").arg(action);
    case Decider::search:
      return InspectorPane::tr("%1, decided by a search").arg(action);
    case Decider::preset:
      return InspectorPane::tr("%1, decided by a preset").arg(action);
    case Decider::list:
      return InspectorPane::tr("%1, decided by an operator set or an imported policy").arg(action);
    case Decider::untagged:
      return InspectorPane::tr("%1; no tag determines the policy").arg(action);
    case Decider::capture:
      break;
  }
  return InspectorPane::tr("%1, decided by a tag").arg(action);
}

}  // namespace

InspectorPane::InspectorPane(Document& document, QWidget* parent)
    : QWidget(parent), document_(document) {
  setAccessibleName(tr("Inspector"));
  QVBoxLayout* rows = make_column(this, {});
  page_ = make_text_page(tr("Inspector"), kMargin, this);
  setFocusProxy(page_);
  rows->addWidget(new RangeBar(document_, kMargin, this));
  rows->addWidget(page_);
  connect(page_, &QTextBrowser::anchorClicked, this, &InspectorPane::follow);
  connect(&document_, &Document::changed, this, &InspectorPane::request_refresh);
  connect(&document_, &Document::measurement_changed, this, &InspectorPane::request_refresh);
  connect(&document_.selection(), &Selection::nodes_changed, this, &InspectorPane::request_refresh);
  range_delay_.setSingleShot(true);
  range_delay_.setInterval(kRangeDelayMs);
  connect(&range_delay_, &QTimer::timeout, this, &InspectorPane::request_refresh);
  const ShownRange* range = &document_.shown_range();
  connect(range, &ShownRange::range_changed, &range_delay_, qOverload<>(&QTimer::start));
  connect(range, &ShownRange::graph_changed, &range_delay_, qOverload<>(&QTimer::start));
  connect(&document_.sac(), &SacSession::changed, this, &InspectorPane::refresh_node);
  connect(&document_.shown_kernels(), &ShownKernels::changed, this, &InspectorPane::refresh_node);
  connect(&document_.traced_kernels(), &TracedKernels::changed, this, &InspectorPane::refresh_node);
  connect(&document_.sac().value_reasons(), &ValueReasons::changed, this,
          &InspectorPane::refresh_node);
}

void InspectorPane::set_source_roots(const QStringList& roots) {
  roots_ = roots;
  request_refresh();
}

void InspectorPane::request_refresh() {
  is_stale_ = true;
  if (isVisible()) refresh();
}

void InspectorPane::refresh() {
  is_stale_ = false;
  const Selection& selection = document_.selection();
  const Theme& theme = Theme::of(palette());
  // An edit may have removed selected nodes.
  std::vector<NodeId> nodes;
  std::ranges::copy_if(selection.nodes(), std::back_inserter(nodes),
                       [this](NodeId node) { return document_.has(node); });
  if (nodes.empty()) {
    content_ = {};
    shown_ = {};
    const ShownRange& range = document_.shown_range();
    if (!range.range()) return page_->setHtml(inspector_hint(theme));
    content_.title =
        range.is_partitioned() ? tr("Selected range, as partitioned") : tr("Selected range");
    add_range();
    return show_content(0);
  }
  const bool is_one = nodes.size() == 1;
  content_ = is_one ? describe(document_.snapshot(), nodes.front(), document_.measured())
                    : describe(document_.snapshot(), nodes, document_.measured());
  if (is_one) {
    add_kernel(nodes.front());
    add_measured_kernel(nodes.front());
    add_plan(nodes.front());
    add_reasons(nodes.front());
  }
  add_range();
  // If the graph has changed but the node is the same, keep the scroll position.
  const bool is_same = is_one && shown_ == selection.current();
  shown_ = is_one ? selection.current() : NodeId{};
  show_content(is_same ? page_->verticalScrollBar()->value() : 0);
}

void InspectorPane::show_content(int scroll) {
  page_->setHtml(inspector_html(content_, document_.graph(), Theme::of(palette()), roots_,
                                page_font_pixels(font())));
  page_->verticalScrollBar()->setValue(scroll);
}

// If a range is selected, adds its totals as the first section.
void InspectorPane::add_range() {
  const ShownRange& shown = document_.shown_range();
  if (shown.range())
    content_.sections.insert(content_.sections.begin(), describe_range(*shown.figures()));
}

// If there is a plan, adds the node's policy and the reasons for it as the first section, in the
// same words as the SAC pane.
void InspectorPane::add_plan(NodeId node) {
  const SacStatePtr state = document_.sac().state();
  const SacTensor* tensor = state ? state->tensor_of(node) : nullptr;
  if (tensor == nullptr) return;
  InspectorSection section{.title = tr("In the backward")};
  const auto add = [&section](const QString& label, const QString& value) {
    section.add(label, value, Provenance::computed);
  };
  add(tr("policy"), policy_text(*tensor));
  add(tr("why"), to_qstring(why(*state, *tensor)));
  ValueReasons& reasons = document_.sac().value_reasons();
  reasons.follow(state, node);
  for (const MarginLine& line : reasons.lines()) add(to_qstring(line.label), to_qstring(line.text));
  if (reasons.is_working()) add(tr("solvers"), tr("Comparing with other solvers..."));
  content_.sections.insert(content_.sections.begin(), std::move(section));
}

// Adds the edits that affected the node as the first section, if there are any or the user asked.
void InspectorPane::add_reasons(NodeId node) {
  if (asked_ != node) asked_ = {};
  const std::vector<EditReason> reasons =
      reasons_for(document_.editing().edit_history(), document_.graph(), node);
  if (!reasons.empty() || asked_)
    content_.sections.insert(content_.sections.begin(), why_section(reasons));
}

// If the kernels of the current graph are known, adds the node's kernel as the last section. Those
// of an earlier graph may contain nodes that an edit has removed.
void InspectorPane::add_kernel(NodeId node) {
  const ShownKernels& kernels = document_.shown_kernels();
  const SnapshotKernelsPtr& shown = kernels.shown();
  if (!shown || shown->snapshot() != document_.shared_snapshot()) return;
  InspectorSection section = describe_kernel_of(*shown, node, kernels.source());
  if (!section.rows.empty()) content_.sections.push_back(std::move(section));
}

// If a trace of compiled steps is open, adds what it measured for the node's kernel, unless
// `add_kernel` has done so.
void InspectorPane::add_measured_kernel(NodeId node) {
  const TracedKernels& traced = document_.traced_kernels();
  if (!traced.shown() || !traced.is_current()) return;
  if (document_.shown_kernels().source() == ShownKernels::Source::measured) return;
  InspectorSection section = describe_measured_kernel_of(*traced.shown(), node);
  if (!section.rows.empty()) content_.sections.push_back(std::move(section));
}

void InspectorPane::ask_why() {
  asked_ = document_.selection().current();
  request_refresh();
  page_->verticalScrollBar()->setValue(0);
}

void InspectorPane::follow(const QUrl& link) {
  std::vector<NodeId> nodes = linked_nodes(content_, link);
  if (!nodes.empty()) document_.selection().select_all(std::move(nodes));
}

void InspectorPane::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
    request_refresh();
}

void InspectorPane::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (is_stale_) refresh();
}

}  // namespace jointer::views
