#pragma once

#include <QPainter>
#include <QStringList>

#include "views/session/open/selection.h"
#include "views/timeline/timeline_hits.h"

namespace jointer::views {

// The position of a moment on the axis, and its bytes: measured if a measurement is shown, and
// estimated.
QString moment_text(const TimelineContent& content, std::size_t moment);

// The totals of a selected range, as text.
QStringList range_lines(const TimelineContent& content, TimeRange range);

// Hover text at a position: of the item there, or the entries that do not fit in a legend. Empty if
// there is nothing.
QStringList card_lines(const TimelineScene& scene, QPoint at);

// Paints a card with the hover text, and a line at the pointer if it is over an item.
void paint_hover(QPainter& painter, const TimelineScene& scene, QPoint at);

}  // namespace jointer::views
