#include "views/inspector/inspector_pane.h"

#include <QEvent>
#include <QFontInfo>
#include <QScrollBar>
#include <QUrl>
#include <QVBoxLayout>
#include <algorithm>

#include "views/inspector/describe_nodes.h"
#include "views/inspector/why_here.h"
#include "views/session/edit/editing.h"
#include "views/session/sac/keep_text.h"
#include "views/session/sac/sac_session.h"
#include "views/session/text/node_text.h"
#include "views/widgets/inspector_html.h"

namespace jointer::views {
namespace {

constexpr int kMargin = 8;
constexpr int kMinFont = 11;

QString policy_text(const SacTensor& tensor) {
  const QString keep = keep_word(tensor.keep);
  switch (tensor.decider) {
    case Decider::partitioner:
      return InspectorPane::tr("%1, decided by the partitioner").arg(keep);
    case Decider::person:
      return InspectorPane::tr("%1, decided by you").arg(keep);
    case Decider::search:
      return InspectorPane::tr("%1, decided by a search").arg(keep);
    case Decider::preset:
      return InspectorPane::tr("%1, decided by a preset").arg(keep);
    case Decider::list:
      return InspectorPane::tr("%1, decided by a list").arg(keep);
    case Decider::nobody:
      return InspectorPane::tr("%1; no tag determines the policy").arg(keep);
    case Decider::capture:
      break;
  }
  return InspectorPane::tr("%1, decided by a tag").arg(keep);
}

}  // namespace

InspectorPane::InspectorPane(Document& document, QWidget* parent)
    : QWidget(parent), document_(document) {
  setAccessibleName(tr("Inspector"));
  auto* rows = new QVBoxLayout(this);
  rows->setContentsMargins(0, 0, 0, 0);
  page_ = new QTextBrowser(this);
  setFocusProxy(page_);
  page_->setFrameShape(QFrame::NoFrame);
  page_->setOpenLinks(false);
  page_->document()->setDocumentMargin(kMargin);
  page_->setAccessibleName(tr("Inspector"));
  rows->addWidget(page_);
  connect(page_, &QTextBrowser::anchorClicked, this, &InspectorPane::follow);
  connect(&document_, &Document::changed, this, &InspectorPane::request_refresh);
  connect(&document_, &Document::measurement_changed, this, &InspectorPane::request_refresh);
  connect(&document_.selection(), &Selection::nodes_changed, this, &InspectorPane::request_refresh);
  connect(&document_.sac(), &SacSession::changed, this, [this] {
    if (shown_) request_refresh();
  });
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
  // The nodes are sorted by id, so checking the last one is enough.
  if (selection.nodes().empty() || !document_.has(selection.nodes().back())) {
    content_ = {};
    shown_ = {};
    page_->setHtml(inspector_hint(theme));
    return;
  }
  const bool is_one = selection.nodes().size() == 1;
  content_ = is_one ? describe(document_.snapshot(), selection.current(), document_.measured())
                    : describe(document_.snapshot(), selection.nodes(), document_.measured());
  if (is_one) {
    add_plan(selection.current());
    add_reasons(selection.current());
  }
  // If the graph has changed but the node is the same, keep the scroll position.
  const bool is_same = is_one && shown_ == selection.current();
  shown_ = is_one ? selection.current() : NodeId{};
  const int scroll = page_->verticalScrollBar()->value();
  page_->setHtml(inspector_html(content_, document_.graph(), theme, roots_,
                                std::max(kMinFont, QFontInfo(font()).pixelSize())));
  page_->verticalScrollBar()->setValue(is_same ? scroll : 0);
}

// Adds the tensor's policy if there is a plan, in the same words as the SAC pane.
void InspectorPane::add_plan(NodeId node) {
  const SacStatePtr state = document_.sac().state();
  const SacTensor* tensor = state ? state->tensor_of(node) : nullptr;
  if (tensor == nullptr) return;
  content_.sections.insert(content_.sections.begin(),
                           {.title = tr("In the backward"),
                            .rows = {{.label = tr("policy"),
                                      .value = policy_text(*tensor),
                                      .provenance = Provenance::computed},
                                     {.label = tr("why"),
                                      .value = QString::fromStdString(why(*state, *tensor)),
                                      .provenance = Provenance::computed}}});
}

// Adds the edits that affected the node as the first section, if there are any.
void InspectorPane::add_reasons(NodeId node) {
  if (asked_ != node) asked_ = {};
  const std::vector<EditReason> reasons =
      reasons_for(document_.editing().edit_history(), document_.graph(), node);
  if (!reasons.empty() || asked_)
    content_.sections.insert(content_.sections.begin(), why_section(reasons));
}

void InspectorPane::ask_why() {
  asked_ = document_.selection().current();
  request_refresh();
  page_->verticalScrollBar()->setValue(0);
}

void InspectorPane::follow(const QUrl& link) {
  const QString target = link.path();
  if (link.scheme() == u"node") {
    document_.selection().select(NodeId(target.toULongLong()));
  } else if (link.scheme() == u"nodes") {
    const QStringList parts = target.split(u'.');
    const auto section = parts.value(0).toUInt(), row = parts.value(1).toUInt();
    if (section >= content_.sections.size() || row >= content_.sections[section].rows.size())
      return;
    document_.selection().select_all(content_.sections[section].rows[row].all_links);
  }
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
