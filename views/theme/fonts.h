#pragma once

#include <QFont>
#include <QFontInfo>
#include <algorithm>

namespace jointer::views {

// The font of legends, scales and metric names: smaller than the surrounding text, but at least 11
// pixels.
inline QFont small_font(const QFont& font) {
  QFont small = font;
  small.setPixelSize(std::max(11, QFontInfo(font).pixelSize() - 2));
  return small;
}

// The font of numbers that should be readable from a distance.
inline QFont figure_font(const QFont& font) {
  QFont large = font;
  large.setPixelSize(QFontInfo(font).pixelSize() + 4);
  large.setBold(true);
  return large;
}

}  // namespace jointer::views
