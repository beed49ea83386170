#pragma once

#include <QFontMetrics>
#include <QPainter>
#include <QRect>
#include <QString>

#include "views/theme/theme.h"

namespace jointer::views {

// A label next to the column of a peak, in a row of labels above the memory curve.
struct PeakLabel {
  QRect box;
  QString text;  // elided if the row is narrower

  // Places the label to the right of column `x` if there is space, otherwise to the left; always
  // within the row.
  static PeakLabel place(const QFontMetrics& metrics, const QRect& row, int x, const QString& text);
  void paint(QPainter& painter, const Theme& theme, const QColor& color) const;
};

}  // namespace jointer::views
