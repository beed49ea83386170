#include "views/sac/policy_delegate.h"

#include <QApplication>
#include <QPainter>
#include <array>

#include "views/sac/sac_model.h"
#include "views/theme/fonts.h"
#include "views/theme/theme.h"
#include "views/widgets/rung_mark.h"

namespace jointer::views {
namespace {

constexpr int kPlace = 22;  // wide enough for easy clicking
constexpr int kInset = 3;
constexpr std::array kPlaces{Keep::save, Keep::recompute, Keep::offload};

RungState state_of(Keep keep) {
  switch (keep) {
    case Keep::save:
      return RungState::save;
    case Keep::recompute:
      return RungState::recompute;
    case Keep::offload:
      break;
  }
  return RungState::offload;
}

}  // namespace

QRect PolicyDelegate::place_of(const QRect& cell, Keep keep) {
  int x = cell.left() + kInset;
  for (const Keep place : kPlaces) {
    if (place == keep) break;
    x += kPlace;
  }
  return {x, cell.top() + 2, kPlace, cell.height() - 4};
}

std::optional<Keep> PolicyDelegate::keep_at(const QRect& cell, QPoint at) {
  for (const Keep keep : kPlaces) {
    // The switch can be clicked over the full height of the row.
    const QRect place = place_of(cell, keep);
    if (QRect(place.left(), cell.top(), place.width(), cell.height()).contains(at)) return keep;
  }
  return std::nullopt;
}

void PolicyDelegate::set_hover(const QModelIndex& index, Keep keep) {
  hovered_ = index;
  hovered_keep_ = keep;
}

void PolicyDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                           const QModelIndex& index) const {
  const QStyle* style = option.widget != nullptr ? option.widget->style() : QApplication::style();
  style->drawPrimitive(QStyle::PE_PanelItemViewItem, &option, painter, option.widget);
  const Theme& theme = Theme::of(option.palette);
  const auto keeps = index.data(SacModel::keeps_role).value<SacModel::Keeps>();
  const bool is_fixed = index.data(SacModel::fixed_role).toBool();
  if (keeps.all() == 0) return;
  painter->save();
  painter->setFont(small_font(option.font));
  for (const Keep keep : kPlaces) {
    const QRect place = place_of(option.rect, keep);
    const int count = keeps.of(keep);
    // A row that cannot change shows only its current policy.
    if (is_fixed && count == 0) continue;
    const QColor color = rung_color(theme, state_of(keep));
    const bool is_all = count == keeps.all();
    painter->fillRect(place, is_all ? color : theme.bed);
    if (count > 0 && !is_all) {
      const int height = std::max(
          2, static_cast<int>(static_cast<double>(place.height()) * count / keeps.all() + 0.5));
      painter->fillRect(QRect(place.left(), place.bottom() + 1 - height, place.width(), height),
                        theme.half(color));
    }
    const bool is_hovered = !is_fixed && hovered_ == index && hovered_keep_ == keep;
    painter->setPen(is_hovered ? theme.text : theme.border);
    painter->drawRect(place.adjusted(0, 0, -1, -1));
    painter->setPen(is_all ? Theme::text_on(color) : count > 0 ? theme.text : theme.muted_text);
    painter->drawText(place, Qt::AlignCenter, rung_letter(state_of(keep)));
  }
  painter->restore();
}

QSize PolicyDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  QSize size = TableDelegate::sizeHint(option, index);
  size.setWidth(3 * kPlace + 2 * kInset);
  return size;
}

}  // namespace jointer::views
