#pragma once

#include <QApplication>
#include <QString>
#include <cstdint>
#include <optional>

namespace jointer::views {

// The theme that the user chose; `system` follows the desktop.
enum class ThemeChoice : std::uint8_t { system, light, dark };

QString to_string(ThemeChoice choice);
std::optional<ThemeChoice> parse_theme_choice(const QString& text);

// Returns true if the desktop uses a dark theme. Determined once at startup, before Jointer's theme
// is applied.
bool is_system_dark();

// Applies the theme's style, palette and style sheet to the application.
void apply_theme(QApplication& application, ThemeChoice choice);

}  // namespace jointer::views
