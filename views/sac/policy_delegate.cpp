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
constexpr std::array kPlaces{PlanAction::save, PlanAction::recompute, PlanAction::offload};

RungState state_of(PlanAction action) {
  switch (action) {
    case PlanAction::save:
      return RungState::save;
    case PlanAction::recompute:
      return RungState::recompute;
    case PlanAction::offload:
      break;
  }
  return RungState::offload;
}

}  // namespace

QRect PolicyDelegate::place_of(const QRect& cell, PlanAction action) {
  int x = cell.left() + kInset;
  for (const PlanAction place : kPlaces) {
    if (place == action) break;
    x += kPlace;
  }
  return {x, cell.top() + 2, kPlace, cell.height() - 4};
}

std::optional<PlanAction> PolicyDelegate::action_at(const QRect& cell, QPoint at) {
  for (const PlanAction action : kPlaces) {
    // The switch can be clicked over the full height of the row.
    const QRect place = place_of(cell, action);
    if (QRect(place.left(), cell.top(), place.width(), cell.height()).contains(at)) return action;
  }
  return std::nullopt;
}

void PolicyDelegate::set_hover(const QModelIndex& index, PlanAction action) {
  hovered_ = index;
  hovered_action_ = action;
}

void PolicyDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                           const QModelIndex& index) const {
  const QStyle* style = option.widget != nullptr ? option.widget->style() : QApplication::style();
  style->drawPrimitive(QStyle::PE_PanelItemViewItem, &option, painter, option.widget);
  const Theme& theme = Theme::of(option.palette);
  const auto actions = index.data(SacModel::actions_role).value<SacModel::ActionCounts>();
  const bool is_fixed = index.data(SacModel::fixed_role).toBool();
  if (actions.all() == 0) return;
  painter->save();
  painter->setFont(small_font(option.font));
  for (const PlanAction action : kPlaces) {
    const QRect place = place_of(option.rect, action);
    const int count = actions.of(action);
    // A row that cannot change shows only the policies that its tensors have.
    if (is_fixed && count == 0) continue;
    const QColor color = rung_color(theme, state_of(action));
    const bool is_all = count == actions.all();
    painter->fillRect(place, is_all ? color : theme.bed);
    if (count > 0 && !is_all) {
      const int height = std::max(
          2, static_cast<int>(static_cast<double>(place.height()) * count / actions.all() + 0.5));
      painter->fillRect(QRect(place.left(), place.bottom() + 1 - height, place.width(), height),
                        theme.half(color));
    }
    const bool is_hovered = !is_fixed && hovered_ == index && hovered_action_ == action;
    painter->setPen(is_hovered ? theme.text : theme.border);
    painter->drawRect(place.adjusted(0, 0, -1, -1));
    painter->setPen(is_all ? Theme::text_on(color) : count > 0 ? theme.text : theme.muted_text);
    painter->drawText(place, Qt::AlignCenter, rung_letter(state_of(action)));
  }
  painter->restore();
}

QSize PolicyDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  QSize size = TableDelegate::sizeHint(option, index);
  size.setWidth(3 * kPlace + 2 * kInset);
  return size;
}

}  // namespace jointer::views
