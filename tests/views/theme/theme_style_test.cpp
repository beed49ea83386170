#include "views/theme/theme_style.h"

#include <gtest/gtest.h>

#include <QCheckBox>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QSpinBox>
#include <QTreeWidget>
#include <algorithm>
#include <cmath>

#include "views/theme/theme.h"

namespace jointer::views {
namespace {

double luminance(const QColor& color) {
  const auto linear = [](double value) {
    return value <= 0.03928 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) +
         0.0722 * linear(color.blueF());
}

// As defined by the Web Content Accessibility Guidelines, which ask for 3 around controls.
double contrast(const QColor& a, const QColor& b) {
  const auto [darker, lighter] = std::minmax({luminance(a), luminance(b)});
  return (lighter + 0.05) / (darker + 0.05);
}

// The strongest contrast with the theme's surface in the left half of the middle row, where an
// empty field has nothing but its outline.
double outline_contrast(QWidget& widget, const Theme& theme) {
  ThemeStyle style;
  widget.setStyle(&style);
  widget.setPalette(theme.palette());
  widget.resize(widget.sizeHint());
  const QImage image = widget.grab().toImage();
  double largest = 0;
  for (int x = 0; x < std::min(image.width() / 2, 12); ++x)
    largest = std::max(largest, contrast(image.pixelColor(x, image.height() / 2), theme.surface));
  widget.setStyle(nullptr);
  return largest;
}

TEST(ThemeStyle, OutlinesOfFieldsAreVisibleInTheDarkTheme) {
  const Theme& theme = Theme::dark_theme();
  QLineEdit edit;
  EXPECT_GE(outline_contrast(edit, theme), 3);
  QSpinBox spin;
  spin.setMinimum(0);
  spin.setSpecialValueText(QStringLiteral(" "));
  EXPECT_GE(outline_contrast(spin, theme), 3);
  QCheckBox check;
  EXPECT_GE(outline_contrast(check, theme), 3);
  QMenu menu;
  menu.addAction(QString());
  EXPECT_GE(outline_contrast(menu, theme), 3);
}

TEST(ThemeStyle, TheLightThemeIsFusions) {
  const QPalette palette = Theme::light_theme().palette();
  QLineEdit edit;
  edit.setPalette(palette);
  edit.resize(edit.sizeHint());
  ThemeStyle style;
  QProxyStyle fusion(QStringLiteral("Fusion"));
  edit.setStyle(&fusion);
  const QImage plain = edit.grab().toImage();
  edit.setStyle(&style);
  EXPECT_EQ(edit.grab().toImage(), plain);
  edit.setStyle(nullptr);
}

// Next to the last column, too.
TEST(ThemeStyle, HeadersOfTablesHaveOneColor) {
  for (const Theme* theme : {&Theme::light_theme(), &Theme::dark_theme()}) {
    QTreeWidget table;
    table.header()->setStretchLastSection(false);
    table.setPalette(theme->palette());
    table.setStyleSheet(theme->style_sheet());
    table.resize(400, 100);
    const QImage image = table.grab().toImage();
    ASSERT_LT(table.header()->length(), 350);
    EXPECT_EQ(image.pixelColor(390, 8).name(), theme->window.name());
  }
}

}  // namespace
}  // namespace jointer::views
