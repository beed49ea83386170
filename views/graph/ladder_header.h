#pragma once

#include <QFont>
#include <QFontMetrics>
#include <QPainter>
#include <QString>
#include <QStringList>
#include <vector>

#include "views/graph/ladder_painter.h"

namespace jointer::views {

// A heading above the ladder, for a side or for the values between the sides.
struct LadderHeading {
  QRect area;
  Qt::Alignment alignment;
  bool is_of_values = false;
  QStringList texts;  // the full text, then shorter ones without the least important parts
};
std::vector<LadderHeading> ladder_headings(const LadderScene& scene, const QRect& strip);

// The first of the texts that fits; empty if none does.
QString text_that_fits(const QStringList& texts, const QFontMetrics& metrics, int width);

void paint_ladder_header(QPainter& painter, const QRect& strip, const LadderScene& scene,
                         const QFont& font);

// The full text of the heading at a position if the heading shows a shorter text; otherwise empty.
QString cut_heading_at(QPoint at, const QRect& strip, const LadderScene& scene, const QFont& font);

}  // namespace jointer::views
