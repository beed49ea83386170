#pragma once

#include <QApplication>
#include <QString>
#include <cstdint>
#include <optional>

namespace jointer::views {

// What a person asks for; `system` is as the desktop around us.
enum class ThemeChoice : std::uint8_t { system, light, dark };

QString to_string(ThemeChoice choice);
std::optional<ThemeChoice> parse_theme_choice(const QString& text);

// Whether the desktop around us is dark: asked once at the start, before a theme of ours is
// applied.
bool is_system_dark();

// Style, palette and style sheet of the whole program.
void apply_theme(QApplication& application, ThemeChoice choice);

}  // namespace jointer::views
