#pragma once

#include <QColor>
#include <QPalette>
#include <QString>
#include <Qt>
#include <span>

#include "core/schedule/lifetimes.h"
#include "views/session/snapshot/timeline_data.h"

namespace jointer::views {

// The window's colors. Surfaces are neutral and there is one accent; all other colors represent
// data. Data colors are from the Okabe-Ito palette, which is safe for color blindness; in
// grayscale, order and hatching distinguish them.
struct Theme {
  bool dark = false;
  QColor window, surface, raised, border, grid, bed;
  QColor text, muted_text, accent, accent_text, warning, error, ghost;

  // Colors of memory categories.
  [[nodiscard]] QColor category(MemoryCategory category) const;
  [[nodiscard]] static Qt::BrushStyle hatch(MemoryCategory category);
  // Colors of items in lanes.
  [[nodiscard]] QColor item(ItemColor color) const;
  // Fills of estimates: `pale` inside an outline, `half` if the block is too narrow for an outline.
  [[nodiscard]] QColor pale(const QColor& color) const;
  [[nodiscard]] QColor half(const QColor& color) const;
  // Black or white, whichever is more readable on `background`.
  [[nodiscard]] static QColor text_on(const QColor& background);

  [[nodiscard]] QPalette palette() const;
  // Style sheet for what the palette does not cover.
  [[nodiscard]] QString style_sheet() const;

  static const Theme& light_theme();
  static const Theme& dark_theme();
  // The theme that a widget's palette belongs to.
  static const Theme& of(const QPalette& palette);
};

// Translated labels.
QString category_label(MemoryCategory category);
QString item_label(ItemColor color);

// Bottom to top, permanent memory first.
std::span<const MemoryCategory> stacking_order();

}  // namespace jointer::views
