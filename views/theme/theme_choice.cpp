#include "views/theme/theme_choice.h"

#include "views/theme/theme.h"
#include "views/theme/theme_style.h"

namespace jointer::views {

QString to_string(ThemeChoice choice) {
  switch (choice) {
    case ThemeChoice::system:
      return QStringLiteral("system");
    case ThemeChoice::light:
      return QStringLiteral("light");
    case ThemeChoice::dark:
      return QStringLiteral("dark");
  }
  return {};
}

std::optional<ThemeChoice> parse_theme_choice(const QString& text) {
  for (const ThemeChoice choice : {ThemeChoice::system, ThemeChoice::light, ThemeChoice::dark})
    if (text == to_string(choice)) return choice;
  return std::nullopt;
}

bool is_system_dark() {
  static const bool dark = QApplication::palette().color(QPalette::Window).lightness() < 128;
  return dark;
}

void apply_theme(QApplication& application, ThemeChoice choice) {
  const bool dark =
      choice == ThemeChoice::dark || (choice == ThemeChoice::system && is_system_dark());
  const Theme& theme = dark ? Theme::dark_theme() : Theme::light_theme();
  QApplication::setStyle(new ThemeStyle);
  QApplication::setPalette(theme.palette());
  application.setStyleSheet(theme.style_sheet());
}

}  // namespace jointer::views
