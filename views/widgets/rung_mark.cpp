#include "views/widgets/rung_mark.h"

#include <array>

#include "views/session/translation/tr.h"

namespace jointer::views {

QColor rung_color(const Theme& theme, RungState state) {
  switch (state) {
    case RungState::save:
      return theme.color(ColorRole::saved);
    case RungState::recompute:
      return theme.color(ColorRole::recomputed);
    case RungState::offload:
      return theme.color(ColorRole::offloaded);
    case RungState::automatic:
      return theme.color(ColorRole::automatic);
  }
  return theme.text;
}

Qt::BrushStyle rung_hatch(RungState state) {
  return state == RungState::offload ? Qt::VerPattern : Qt::NoBrush;
}

void hatch(QPainter& painter, const QRectF& box, Qt::BrushStyle style, const QColor& fill) {
  if (style == Qt::NoBrush) return;
  painter.fillRect(box.adjusted(1, 1, -1, -1),
                   QBrush(with_alpha(Theme::text_on(fill), 0.3F), style));
}

QString rung_letter(RungState state) {
  constexpr std::array kLetters{"S", "R", "O", "A"};
  return QString::fromLatin1(kLetters[static_cast<std::size_t>(state)]);
}

QString rung_word(RungState state) {
  switch (state) {
    case RungState::save:
      return tr("save");
    case RungState::recompute:
      return tr("recompute");
    case RungState::offload:
      return tr("offload");
    case RungState::automatic:
      return tr("automatic");
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
