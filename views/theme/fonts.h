#pragma once

#include <QFont>
#include <QFontInfo>
#include <algorithm>

namespace jointer::views {

// For legends, scales and names of figures: smaller than the text around them, never under 11
// pixels.
inline QFont small_font(const QFont& font) {
  QFont small = font;
  small.setPixelSize(std::max(11, QFontInfo(font).pixelSize() - 2));
  return small;
}

// For figures that are read from afar.
inline QFont figure_font(const QFont& font) {
  QFont large = font;
  large.setPixelSize(QFontInfo(font).pixelSize() + 4);
  large.setBold(true);
  return large;
}

}  // namespace jointer::views
