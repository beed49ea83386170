#include "app/desktop/status_line.h"

#include "views/session/document/shown_range.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/session/text/range_text.h"
#include "views/window/facts_popup.h"

namespace jointer::desktop {
namespace {

using namespace views;

constexpr int kMessageMs = 8000;

}  // namespace

StatusLine::StatusLine(QStatusBar& bar, MessageBar& failures, Documents& documents)
    : bar_(bar), failures_(failures), documents_(documents) {
  facts_ = new QToolButton(&bar_);
  facts_->setObjectName(QStringLiteral("facts"));
  facts_->setAutoRaise(true);
  facts_->setToolTip(
      tr("List warnings, and everything that was derived or assumed because the capture does not "
         "record it"));
  connect(facts_, &QToolButton::clicked, this, [this] {
    if (const Document* document = documents_.document())
      (new FactsPopup(document->graph(), bar_.window()))->show_above(*facts_);
  });
  connect(&bar_, &QStatusBar::messageChanged, this, [this](const QString& message) {
    bar_.setToolTip(message);  // the bar cuts off a long message
    if (message.isEmpty()) refresh();
  });
  selection_ = new QLabel(&bar_);
  bar_.addWidget(facts_);
  selection_->setContentsMargins(10, 0, 10, 0);
  bar_.addPermanentWidget(selection_);
  bar_.setSizeGripEnabled(false);
  connect(&documents_, &Documents::loaded, this, &StatusLine::follow);
  connect(&documents_, &Documents::current_changed, this, &StatusLine::refresh);
  refresh();
}

void StatusLine::follow(const DocumentTab* tab) {
  const Document* document = tab->document();
  connect(document, &Document::changed, this, &StatusLine::refresh);
  connect(document, &Document::failed, this,
          [this, document](const QString& why) { warn_about(*document, why); });
  connect(document, &Document::busy_changed, this, [this](bool busy) {
    const QString computing = tr("Computing memory and time...");
    if (busy)
      bar_.showMessage(computing);
    else if (bar_.currentMessage() == computing)  // not a newer message
      bar_.clearMessage();
  });
  const Selection* selection = &document->selection();
  connect(selection, &Selection::nodes_changed, this, &StatusLine::refresh);
  const ShownRange* range = &document->shown_range();
  connect(range, &ShownRange::range_changed, this, &StatusLine::refresh);
  connect(range, &ShownRange::graph_changed, this, &StatusLine::refresh);
  connect(range, &ShownRange::cleared, this, &StatusLine::say);
}

void StatusLine::refresh() {
  const Document* document = documents_.document();
  if (document == nullptr) {
    bar_.clearMessage();  // about a document that has been closed
    facts_->hide();
    return selection_->clear();
  }
  // A message covers the facts, which reappear once it is gone.
  if (bar_.currentMessage().isEmpty()) facts_->show();
  facts_->setText(graph_summary(document->graph()));
  const auto nodes = document->selection().nodes();
  if (nodes.empty()) {
    const ShownRange& shown = document->shown_range();
    const auto range = shown.range();
    if (!range) return selection_->setText(tr("Nothing selected"));
    const QString text = shown.is_partitioned() ? tr("Range %1, as partitioned") : tr("Range %1");
    return selection_->setText(text.arg(time_range_text(range->begin, range->end)));
  }
  std::int64_t bytes = 0, ns = 0;
  for (const NodeId node : nodes) {
    bytes += document->graph().output_bytes(document->graph().node(node));
    ns += document->analysis().costs[node.index()].ns;
  }
  const QString what = nodes.size() == 1 ? to_qstring(document->graph().name(nodes.front()))
                                         : tr("%1 nodes").arg(count_text(nodes.size()));
  selection_->setText(
      tr("%1: outputs %2, estimated %3").arg(what, bytes_text(bytes), time_text(ns)));
}

void StatusLine::say(const QString& message) {
  bar_.showMessage(message, kMessageMs);
}

void StatusLine::warn_about(const Document& document, const QString& message) {
  warn(&document == documents_.document() ? message : tr("%1: %2").arg(document.title(), message));
}

}  // namespace jointer::desktop
