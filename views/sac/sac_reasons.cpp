#include "views/sac/sac_reasons.h"

#include <QTextBlock>
#include <algorithm>
#include <cmath>
#include <utility>

#include "views/session/sac/sac_session.h"
#include "views/session/text/node_text.h"
#include "views/theme/spacing.h"

namespace jointer::views {

SacReasons::SacReasons(Document& document, QWidget* parent)
    : QPlainTextEdit(parent), document_(document) {
  setReadOnly(true);
  setFrameShape(QFrame::NoFrame);
  setObjectName(QStringLiteral("reasons"));
  setAccessibleName(tr("Reason for the selected tensor's policy"));
  setPlaceholderText(tr("Select a tensor to see why it is saved, recomputed or offloaded."));
  // With the document's default margin, part of the next line would be visible.
  this->document()->setDocumentMargin(0);
  setViewportMargins(kMargin / 2, kMargin / 2, 0, kMargin / 2);
  setBackgroundRole(QPalette::Base);
  setAutoFillBackground(true);
  fit_height();
  SacSession& session = document.sac();
  connect(&document.selection(), &Selection::nodes_changed, this, &SacReasons::refresh);
  connect(&session, &SacSession::changed, this, &SacReasons::refresh);
  connect(&session.value_reasons(), &ValueReasons::changed, this, &SacReasons::refresh);
}

void SacReasons::set_lines(int lines) {
  if (std::exchange(lines_, lines) != lines) fit_height();
}

void SacReasons::fit_height() {
  const QTextBlock first = document()->firstBlock();
  const double line = blockBoundingRect(first).height() / std::max(first.lineCount(), 1);
  setFixedHeight(static_cast<int>(std::ceil(line)) * lines_ + kMargin);
}

void SacReasons::changeEvent(QEvent* event) {
  QPlainTextEdit::changeEvent(event);
  if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) fit_height();
}

void SacReasons::refresh() {
  if (!isVisible()) return;
  const Selection& selection = document_.selection();
  const SacStatePtr state = document_.sac().state();
  const bool is_one = selection.nodes().size() == 1;
  const SacTensor* tensor = state && is_one ? state->tensor_of(selection.current()) : nullptr;
  QStringList lines;
  if (tensor != nullptr) {
    lines << QStringLiteral("%1: %2.").arg(to_qstring(state->snapshot->graph.name(tensor->node)),
                                           to_qstring(why(*state, *tensor)));
    ValueReasons& reasons = document_.sac().value_reasons();
    reasons.follow(state, tensor->node);
    for (const MarginLine& line : reasons.lines()) lines << to_qstring(line.text);
  }
  const QString text = lines.join(u'\n');
  if (text != toPlainText()) setPlainText(text);
}

void SacReasons::showEvent(QShowEvent* event) {
  QPlainTextEdit::showEvent(event);
  fit_height();
  refresh();
}

}  // namespace jointer::views
