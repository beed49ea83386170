#include "views/widgets/range_chip.h"

#include <QEvent>

#include "views/session/text/range_text.h"
#include "views/theme/theme.h"

namespace jointer::views {

RangeChip::RangeChip(Document& document, QWidget* parent)
    : QToolButton(parent), document_(document) {
  setObjectName(QStringLiteral("range"));
  setToolTip(tr("Only this part of the step is shown. Click or press Esc to show all of it."));
  const Selection* selection = &document_.selection();
  connect(selection, &Selection::range_changed, this, &RangeChip::refresh);
  connect(this, &QToolButton::clicked, this,
          [this] { document_.selection().set_range(std::nullopt); });
  take_colors();
  refresh();
}

void RangeChip::refresh() {
  const auto range = document_.selection().range();
  setVisible(range.has_value());
  if (!range) return;
  const QString text = tr("Range %1").arg(short_time_range_text(range->begin, range->end));
  setText(text + QStringLiteral("  ×"));
  setAccessibleName(tr("%1; press to clear").arg(text));
}

void RangeChip::take_colors() {
  const Theme& theme = Theme::of(palette());
  const QString style = QStringLiteral(
                            "QToolButton { color: %1; background: %2; border: none; "
                            "border-radius: 8px; padding: 2px 8px; }")
                            .arg(theme.accent_text.name(), theme.accent.name());
  if (styleSheet() != style) setStyleSheet(style);
}

void RangeChip::changeEvent(QEvent* event) {
  QToolButton::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) take_colors();
}

}  // namespace jointer::views
