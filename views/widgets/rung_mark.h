#pragma once

#include <QColor>
#include <QPainter>
#include <QString>

#include "views/theme/theme.h"
#include "views/widgets/rung_state.h"

namespace jointer::views {

// The color of rungs and policy tags.
QColor rung_color(const Theme& theme, RungState state);
// The hatching of boxes. Boxes of offloaded tensors have ties, like their rungs.
Qt::BrushStyle rung_hatch(RungState state);
void hatch(QPainter& painter, const QRectF& box, Qt::BrushStyle style, const QColor& fill);
QString rung_letter(RungState state);  // "S"
QString rung_word(RungState state);    // "save"

}  // namespace jointer::views
