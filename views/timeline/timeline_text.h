#pragma once

#include <QPainter>
#include <QStringList>

#include "views/session/open/selection.h"
#include "views/timeline/timeline_hits.h"

namespace jointer::views {

// The position of a moment on the axis, and its bytes: estimated and, if known, measured.
// `resolution`: see TimelineContent::position_text.
QString moment_text(const TimelineContent& content, std::size_t moment, double resolution = 0);

// The totals of a selected range, as text.
QStringList range_lines(const TimelineContent& content, TimeRange range);

// The hover text at a position: about the item there, or the entries that do not fit into the
// legend there. Empty if there is neither.
QStringList card_lines(const TimelineScene& scene, QPoint at);

// Paints a card with the hover text and, if the pointer is over an item, a line at the pointer.
void paint_hover(QPainter& painter, const TimelineScene& scene, QPoint at);

}  // namespace jointer::views
