// Tests that a color has one meaning in all panes.

#include "views/theme/color_role.h"

#include <gtest/gtest.h>

#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <cmath>

#include "tests/support/paths.h"
#include "views/theme/theme.h"
#include "views/widgets/pareto_mark.h"
#include "views/widgets/rung_mark.h"

namespace jointer::views {
namespace {

// A color in OKLab, where the distance of two colors is about how different they look (Ottosson,
// "A perceptual color space for image processing").
struct Lab {
  double lightness = 0, a = 0, b = 0;
};

double linear(double channel) {
  return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

Lab lab_of(const QColor& color) {
  const double r = linear(color.redF()), g = linear(color.greenF()), b = linear(color.blueF());
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

double distance(const QColor& one, const QColor& other) {
  const Lab a = lab_of(one), b = lab_of(other);
  return std::hypot(a.lightness - b.lightness, a.a - b.a, a.b - b.b);
}

class EachTheme : public testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] static const Theme& theme() {
    return GetParam() ? Theme::dark_theme() : Theme::light_theme();
  }
};

INSTANTIATE_TEST_SUITE_P(ColorRole, EachTheme, testing::Bool(),
                         [](const auto& parameter) { return parameter.param ? "Dark" : "Light"; });

// Two colors with a distance of 0.02 differ just visibly next to each other.
TEST_P(EachTheme, HasADifferentColorForEachRole) {
  for (std::size_t a = 0; a < kColorRoles; ++a)
    for (std::size_t b = a + 1; b < kColorRoles; ++b)
      EXPECT_GE(distance(theme().colors[a], theme().colors[b]), 0.05)
          << "roles " << a << " and " << b << ": " << theme().colors[a].name().toStdString() << ", "
          << theme().colors[b].name().toStdString();
}

TEST_P(EachTheme, HasColorsThatAreVisibleOnItsSurfaces) {
  for (std::size_t role = 0; role < kColorRoles; ++role)
    EXPECT_GE(distance(theme().colors[role], theme().surface), 0.1) << "role " << role;
}

TEST_P(EachTheme, ShowsAMeaningInTheSameColorEverywhere) {
  EXPECT_EQ(rung_color(theme(), RungState::save),
            theme().category(MemoryCategory::saved_activation));
  EXPECT_EQ(rung_color(theme(), RungState::recompute),
            theme().category(MemoryCategory::recomputed));
  EXPECT_EQ(theme().item(ItemColor::stall), theme().warning);
  EXPECT_EQ(color_of(ParetoKind::curve, theme()), theme().accent);
}

// Only the theme defines colors; everything else names a role.
TEST(ColorRole, PanesNameRolesOnly) {
  static const QRegularExpression literal(QStringLiteral(
      R"(QColor[({]\s*(0x|\d|"|QStringLiteral)|qRgba?\(\s*\d|\bQt::(red|green|blue|cyan|magenta|yellow|gr[ae]y|black|white|dark\w+|light\w+)\b|["( ]#[0-9A-Fa-f]{6}\b)"));
  for (const char* folder : {"views", "app/desktop"}) {
    const QString root = QString::fromStdString(test::source_path(folder));
    QDirIterator files(root, {"*.h", "*.cpp"}, QDir::Files, QDirIterator::Subdirectories);
    while (files.hasNext()) {
      QFile file(files.next());
      if (file.fileName().startsWith(root + "/theme/")) continue;
      ASSERT_TRUE(file.open(QIODevice::ReadOnly));
      const QRegularExpressionMatch found = literal.match(QString::fromUtf8(file.readAll()));
      EXPECT_FALSE(found.hasMatch())
          << file.fileName().toStdString() << ": " << found.captured().toStdString();
    }
  }
}

}  // namespace
}  // namespace jointer::views
