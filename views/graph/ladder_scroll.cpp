#include "views/graph/ladder_scroll.h"

#include <algorithm>
#include <cmath>

namespace jointer::views {

LadderScroll::LadderScroll(const LadderModel& model, QScrollBar& horizontal, QScrollBar& vertical)
    : model_(model), horizontal_(horizontal), vertical_(vertical) {
  connect(&horizontal_, &QScrollBar::valueChanged, this, &LadderScroll::follow_bars);
  connect(&vertical_, &QScrollBar::valueChanged, this, &LadderScroll::follow_bars);
}

void LadderScroll::follow_view() {
  set_bars();
  emit changed();
}

// The scroll range includes the ladder and the current view, which may extend past an end of the
// ladder, for example after panning.
void LadderScroll::set_bars() {
  is_setting_bars_ = true;
  const auto set = [](QScrollBar& bar, double offset, double size, double whole) {
    const int at = static_cast<int>(std::lround(offset));
    bar.setRange(std::min(0, at),
                 std::max(static_cast<int>(std::ceil(std::max(whole - size, 0.0))), at));
    bar.setPageStep(std::max(static_cast<int>(size), 1));
    bar.setSingleStep(30);
    bar.setValue(at);
  };
  const LadderLayout& layout = model_.layout();
  set(horizontal_, view_.x, view_.width, layout.width() * view_.scale);
  set(vertical_, view_.y, view_.height, layout.height() * view_.scale);
  is_setting_bars_ = false;
}

void LadderScroll::follow_bars() {
  if (is_setting_bars_) return;
  view_.x = horizontal_.value();
  view_.y = vertical_.value();
  follow_view();
}

void LadderScroll::fit() {
  view_.fit(model_.layout());
  follow_view();
}

void LadderScroll::zoom_at(QPointF point, double factor) {
  view_.zoom_at(point.x(), point.y(), factor);
  follow_view();
}

void LadderScroll::pan(QPoint pixels) {
  view_.x -= pixels.x();
  view_.y -= pixels.y();
  follow_view();
}

void LadderScroll::turn(QPointF pixels) {
  const auto moved = [](double offset, double by, double whole, double size) {
    const double end = std::max(whole - size, 0.0);
    return by > 0 ? std::min(offset, std::max(offset - by, 0.0))
                  : std::max(offset, std::min(offset - by, end));
  };
  view_.x = moved(view_.x, pixels.x(), model_.layout().width() * view_.scale, view_.width);
  view_.y = moved(view_.y, pixels.y(), model_.layout().height() * view_.scale, view_.height);
  follow_view();
}

void LadderScroll::show_place(const LadderRect& rect, double room) {
  view_.show_y(rect.y, rect.bottom(), room);
  // If a box is wider than the view, do not scroll horizontally.
  if (rect.width * view_.scale < view_.width) view_.show_x(rect.x, rect.right());
  follow_view();
}

void LadderScroll::to_top() {
  view_.y = 0;
  follow_view();
}

void LadderScroll::center_at(double share) {
  const double whole = model_.layout().height() * view_.scale;
  view_.y = std::clamp(share * whole - view_.height / 2, 0.0, std::max(whole - view_.height, 0.0));
  follow_view();
}

LadderScroll::Anchor LadderScroll::anchor_at(int row, LadderSide side) const {
  const LadderLayout& layout = model_.layout();
  const std::int32_t index = layout.item_of_row(row);
  if (index < 0) return {};
  const LadderItem& item = layout.item(index);
  const LadderRect box = layout.box(item, side);
  const double outer = side == LadderSide::forward ? box.x : box.right();
  return {model_.ladder().row(item.row).key, side, view_.to_x(outer), view_.to_y(box.y)};
}

LadderScroll::Anchor LadderScroll::anchor_on_screen() const {
  const LadderLayout& layout = model_.layout();
  const auto bands = visible_bands(layout, view_);
  if (bands.empty()) return {};
  for (const LadderBand& band : bands)
    if (view_.to_y(band.y) >= 0) return anchor_at(layout.item(band.first).row, LadderSide::forward);
  return anchor_at(layout.item(bands.front().first).row, LadderSide::forward);
}

void LadderScroll::restore(const Anchor& anchor, QSize area) {
  view_.width = area.width();
  view_.height = area.height();
  // An edit may have removed the row.
  if (const int row = anchor.key.empty() ? -1 : model_.ladder().find(anchor.key); row >= 0) {
    const LadderLayout& layout = model_.layout();
    const LadderItem& item = layout.item(layout.item_of_row(row));
    const LadderRect box = layout.box(item, anchor.side);
    const double outer = anchor.side == LadderSide::forward ? box.x : box.right();
    view_.x = outer * view_.scale - anchor.x;
    view_.y = box.y * view_.scale - anchor.y;
  }
  follow_view();
}

}  // namespace jointer::views
