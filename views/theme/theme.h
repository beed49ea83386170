#pragma once

#include <QColor>
#include <QPalette>
#include <QString>
#include <Qt>
#include <span>

#include "core/schedule/lifetimes.h"
#include "views/timeline/timeline_data.h"

namespace jointer::views {

// Colours of the window. Surfaces are neutral, there is one accent, everything else that has a
// colour is data. Data colours are Okabe and Ito's set, which people with any colour vision tell
// apart; in greyscale, order and hatching do.
struct Theme {
  bool dark = false;
  QColor window, surface, raised, border, grid, bed;
  QColor text, muted_text, accent, accent_text, warning, error, ghost;

  // Of memory categories.
  [[nodiscard]] QColor category(MemoryCategory category) const;
  [[nodiscard]] static Qt::BrushStyle hatch(MemoryCategory category);
  // Of items in lanes.
  [[nodiscard]] QColor item(ItemColor color) const;
  // What an estimate is filled with inside its outline, and where it is too narrow to have one.
  [[nodiscard]] QColor pale(const QColor& color) const;
  [[nodiscard]] QColor half(const QColor& color) const;
  // Black or white, whichever is read better on `background`.
  [[nodiscard]] static QColor text_on(const QColor& background);

  [[nodiscard]] QPalette palette() const;
  // Style sheet for the few things that a palette does not reach.
  [[nodiscard]] QString style_sheet() const;

  static const Theme& light_theme();
  static const Theme& dark_theme();
  // The one that a widget's palette belongs to.
  static const Theme& of(const QPalette& palette);
};

// Words for people.
QString category_label(MemoryCategory category);
QString item_label(ItemColor color);

// From the bottom of the stack to the top: what is always there first.
std::span<const MemoryCategory> stacking_order();

}  // namespace jointer::views
