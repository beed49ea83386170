#pragma once

#include <QPainter>
#include <QRect>
#include <QStringList>

#include "views/theme/theme.h"

namespace jointer::views {

// Paints a small card of lines beside `at`, kept inside `bounds`; the first line is its title. Long
// lines wrap.
void paint_card(QPainter& painter, QPoint at, const QRect& bounds, const QStringList& lines,
                const Theme& theme);

}  // namespace jointer::views
