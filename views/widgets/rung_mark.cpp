#include "views/widgets/rung_mark.h"

#include <QCoreApplication>
#include <array>
#include <cmath>

namespace jointer::views {
namespace {

QString words(const char* text) {
  return QCoreApplication::translate("Ladder", text);
}

}  // namespace

QColor mixed(const QColor& a, const QColor& b, double share_of_b) {
  const auto mix = [&](int x, int y) {
    return static_cast<int>(std::lround(x * (1 - share_of_b) + y * share_of_b));
  };
  return {mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue())};
}

QColor rung_color(const Theme& theme, RungState state) {
  switch (state) {
    case RungState::save:
      return theme.category(MemoryCategory::saved_activation);
    case RungState::recompute:
      return theme.category(MemoryCategory::recomputed);
    case RungState::offload:
      return theme.dark ? QColor(0xE0, 0x86, 0xCE) : QColor(0x8C, 0x22, 0x78);
    case RungState::automatic:
      return mixed(theme.category(MemoryCategory::saved_activation), theme.ghost, 0.55);
  }
  return theme.text;
}

Qt::BrushStyle rung_hatch(RungState state) {
  return state == RungState::offload ? Qt::VerPattern : Qt::NoBrush;
}

void hatch(QPainter& painter, const QRectF& box, Qt::BrushStyle style, const QColor& fill) {
  if (style == Qt::NoBrush) return;
  QColor line = Theme::text_on(fill);
  line.setAlphaF(0.3F);
  painter.fillRect(box.adjusted(1, 1, -1, -1), QBrush(line, style));
}

QString rung_letter(RungState state) {
  constexpr std::array kLetters{"S", "R", "O", "A"};
  return QString::fromLatin1(kLetters[static_cast<std::size_t>(state)]);
}

QString rung_word(RungState state) {
  switch (state) {
    case RungState::save:
      return words("save");
    case RungState::recompute:
      return words("recompute");
    case RungState::offload:
      return words("offload");
    case RungState::automatic:
      return words("automatic");
  }
  return {};
}

std::optional<RungState> rung_state(MemoryPolicy policy) {
  switch (policy) {
    case MemoryPolicy::none:
      break;
    case MemoryPolicy::must_save:
    case MemoryPolicy::prefer_save:
      return RungState::save;
    case MemoryPolicy::must_recompute:
    case MemoryPolicy::prefer_recompute:
      return RungState::recompute;
    case MemoryPolicy::must_cpu_offload:
      return RungState::offload;
  }
  return std::nullopt;
}

}  // namespace jointer::views
