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

inline QFont bold_font(QFont font) {
  font.setBold(true);
  return font;
}

// The font size of HTML pages, in pixels.
inline int page_font_pixels(const QFont& font) {
  return std::max(kMinFontPixels, QFontInfo(font).pixelSize());
}

// The font of numbers that should be readable from a distance.
inline QFont figure_font(const QFont& font) {
  QFont large = bold_font(font);
  large.setPixelSize(QFontInfo(font).pixelSize() + 4);
  return large;
}

}  // namespace jointer::views
