#pragma once

#include <QPainter>
#include <QRect>
#include <QStringList>

#include "views/theme/theme.h"

namespace jointer::views {

// Paints a small card of text near `at`, inside `bounds`. The first line is the title; long lines
// wrap.
void paint_card(QPainter& painter, QPoint at, const QRect& bounds, const QStringList& lines,
                const Theme& theme);

}  // namespace jointer::views
