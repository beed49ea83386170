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
QStringList stretch_lines(const TimelineContent& content, Selection::Stretch stretch);

// Text for the item at a pixel column; empty if there is nothing.
QStringList hit_lines(const TimelineScene& scene, const TimelineHit& hit, int x);

// Paints a line at the pointer and a card with the text of the item there, if there is one.
void paint_hover(QPainter& painter, const TimelineScene& scene, QPoint at);

}  // namespace jointer::views
