#include "views/widgets/range_chip.h"

#include <QPainter>

#include "views/session/document/shown_range.h"
#include "views/session/text/range_text.h"
#include "views/theme/spacing.h"
#include "views/theme/theme.h"

namespace jointer::views {

RangeChip::RangeChip(Document& document, QWidget* parent)
    : QToolButton(parent), document_(document) {
  setObjectName(QStringLiteral("range"));
  setToolTip(tr("The totals are those of this range. Click or press Esc to clear it."));
  const ShownRange* range = &document_.shown_range();
  connect(range, &ShownRange::range_changed, this, &RangeChip::refresh);
  connect(range, &ShownRange::graph_changed, this, &RangeChip::refresh);
  connect(this, &QToolButton::clicked, &document_.shown_range(), &ShownRange::clear);
  refresh();
}

void RangeChip::refresh() {
  const auto range = document_.shown_range().range();
  setVisible(range.has_value());
  if (!range) return;
  const QString text = tr("Range %1").arg(short_time_range_text(range->begin, range->end));
  setText(text + QStringLiteral("  ×"));
  updateGeometry();
  setAccessibleName(tr("%1; press to clear").arg(text));
}

QSize RangeChip::sizeHint() const {
  const QFontMetrics metrics(font());
  return {metrics.horizontalAdvance(text()) + 2 * kMargin, metrics.height() + 4};
}

void RangeChip::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Theme& theme = Theme::of(palette());
  painter.setPen(hasFocus() ? QPen(palette().color(QPalette::Text)) : QPen(Qt::NoPen));
  painter.setBrush(theme.accent);
  painter.drawRoundedRect(rect().adjusted(0, 0, -1, -1), kMargin, kMargin);
  painter.setPen(theme.accent_text);
  painter.drawText(rect(), Qt::AlignCenter, text());
}

}  // namespace jointer::views
