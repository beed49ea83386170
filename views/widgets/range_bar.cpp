#include "views/widgets/range_bar.h"

#include "views/session/document/shown_range.h"
#include "views/session/text/range_text.h"
#include "views/widgets/controls.h"

namespace jointer::views {

RangeBar::RangeBar(Document& document, int margin, QWidget* parent)
    : QWidget(parent), document_(document) {
  QHBoxLayout* row = make_row(this, {margin, 0, margin, 0});
  row->addWidget(new RangeChip(document, this));
  note_ = add_control(*row, new ElidedLabel(this), "range_note");
  note_->setForegroundRole(QPalette::PlaceholderText);
  row->setStretchFactor(note_, 1);
  note_delay_.setSingleShot(true);
  note_delay_.setInterval(kRangeDelayMs);
  connect(&note_delay_, &QTimer::timeout, this, &RangeBar::update_note);
  const ShownRange* range = &document_.shown_range();
  connect(range, &ShownRange::range_changed, this, &RangeBar::refresh);
  connect(range, &ShownRange::graph_changed, this, &RangeBar::refresh);
  connect(&document_, &Document::changed, this, &RangeBar::refresh);
  refresh();
}

void RangeBar::refresh() {
  setVisible(document_.shown_range().range().has_value());
  note_->clear();  // it is about the previous range
  if (isVisible()) note_delay_.start();
}

void RangeBar::update_note() {
  const ShownRange& shown = document_.shown_range();
  if (!shown.range() || !isVisible()) return;
  const std::size_t recomputed = shown.figures()->totals().recomputed;
  QStringList parts;
  if (shown.is_partitioned()) parts << tr("as partitioned");
  if (recomputed > 0) parts << recomputed_text(recomputed);
  note_->setText(parts.join(QStringLiteral(", ")));
}

void RangeBar::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  note_delay_.start();
}

}  // namespace jointer::views
