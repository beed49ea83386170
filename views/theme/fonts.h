#pragma once

#include <QFont>
#include <QFontInfo>
#include <algorithm>

namespace jointer::views {

inline constexpr int kMinFontPixels = 11;

// The font of legends, scales and metric names: smaller than the surrounding text, but at least 11
// pixels.
inline QFont small_font(const QFont& font) {
  QFont small = font;
  small.setPixelSize(std::max(kMinFontPixels, QFontInfo(font).pixelSize() - 2));
  return small;
}

// The font size of HTML pages, in pixels.
inline int page_font_pixels(const QFont& font) {
  return std::max(kMinFontPixels, QFontInfo(font).pixelSize());
}

// The font of numbers that should be readable from a distance.
inline QFont figure_font(const QFont& font) {
  QFont large = font;
  large.setPixelSize(QFontInfo(font).pixelSize() + 4);
  large.setBold(true);
  return large;
}

}  // namespace jointer::views
