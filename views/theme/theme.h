#pragma once

#include <QColor>
#include <QPalette>
#include <QString>
#include <Qt>
#include <array>
#include <span>

#include "views/theme/color_role.h"

namespace jointer::views {

// The window's colors. Surfaces are neutral and there is one accent; all other colors represent
// data, and each has one meaning (see ColorRole). Memory categories that a schedule or a plan can
// change have colors of the Okabe-Ito palette, which is safe for color-blind users, or colors close
// to those; in grayscale, order and hatching distinguish the categories. Panes name roles, never
// colors.
struct Theme {
  bool dark = false;
  QColor window, surface, raised, border, grid, bed;
  QColor text, muted_text, accent_text;
  // Indexed by role. The roles below are often used, so they also have separate members.
  std::array<QColor, kColorRoles> colors;
  QColor accent, warning, error, ghost;  // accent, exposed, error and baseline

  [[nodiscard]] QColor color(ColorRole role) const {
    return colors[static_cast<std::size_t>(role)];
  }
  [[nodiscard]] QColor category(MemoryCategory category) const { return color(role_of(category)); }
  [[nodiscard]] static Qt::BrushStyle hatch(MemoryCategory category);
  // Colors of items in lanes.
  [[nodiscard]] QColor item(ItemColor item) const { return color(role_of(item)); }
  // The color of a process group, or the baseline's color if `group` is invalid.
  [[nodiscard]] QColor group(GroupId group) const { return group ? color(role_of(group)) : ghost; }
  // Fill colors of estimates: `pale` inside an outline, `half` if a block is too narrow for one.
  [[nodiscard]] QColor pale(const QColor& color) const;
  [[nodiscard]] QColor half(const QColor& color) const;
  // Near-black or white, whichever is more readable on `background`.
  [[nodiscard]] static QColor text_on(const QColor& background);

  [[nodiscard]] QPalette palette() const;
  // A style sheet for what the palette does not cover.
  [[nodiscard]] QString style_sheet() const;

  static const Theme& light_theme();
  static const Theme& dark_theme();
  // The theme that `palette` belongs to.
  static const Theme& of(const QPalette& palette);
};

// A color between two others: `a` if the share is 0, `b` if it is 1.
QColor blended(const QColor& a, const QColor& b, double share_of_b);
QColor with_alpha(QColor color, float alpha);

// Translated labels.
QString category_label(MemoryCategory category);
QString item_label(ItemColor color);

// The order of the stacked categories from bottom to top: permanent memory first.
std::span<const MemoryCategory> stacking_order();

}  // namespace jointer::views
