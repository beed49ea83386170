#include "views/widgets/flow_layout.h"

#include <QWidget>
#include <algorithm>

namespace jointer::views {

FlowLayout::FlowLayout(QWidget* parent, int horizontal_spacing, int vertical_spacing)
    : QLayout(parent),
      horizontal_spacing_(horizontal_spacing),
      vertical_spacing_(vertical_spacing) {}

QLayoutItem* FlowLayout::itemAt(int index) const {
  return index >= 0 && index < count() ? items_[static_cast<std::size_t>(index)].get() : nullptr;
}

QLayoutItem* FlowLayout::takeAt(int index) {
  if (itemAt(index) == nullptr) return nullptr;
  QLayoutItem* item = items_[static_cast<std::size_t>(index)].release();
  items_.erase(items_.begin() + index);
  return item;
}

int FlowLayout::heightForWidth(int width) const {
  return arrange(QRect(0, 0, width, 0), /*moves=*/false);
}

void FlowLayout::setGeometry(const QRect& rect) {
  QLayout::setGeometry(rect);
  arrange(rect, /*moves=*/true);
}

QSize FlowLayout::minimumSize() const {
  QSize size;
  for (const auto& item : items_)
    if (!item->isEmpty()) size = size.expandedTo(item->minimumSize());
  const QMargins m = contentsMargins();
  return size + QSize(m.left() + m.right(), m.top() + m.bottom());
}

int FlowLayout::arrange(const QRect& rect, bool moves) const {
  const QMargins margins = contentsMargins();
  const QRect area = rect.marginsRemoved(margins);
  int x = area.left(), y = area.top();
  std::size_t row_begin = 0;
  int row_height = 0;
  // Center the items of a row vertically.
  const auto end_row = [&](std::size_t end) {
    if (moves)
      for (std::size_t i = row_begin; i < end; ++i) {
        if (items_[i]->isEmpty()) continue;
        QRect place = items_[i]->geometry();
        place.moveTop(y + (row_height - place.height()) / 2);
        items_[i]->setGeometry(place);
      }
    row_begin = end;
  };
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (items_[i]->isEmpty()) continue;
    const QSize size = items_[i]->sizeHint();
    if (x > area.left() && x + size.width() > area.right() + 1) {
      end_row(i);
      y += row_height + vertical_spacing_;
      x = area.left();
      row_height = 0;
    }
    if (moves) items_[i]->setGeometry(QRect(QPoint(x, y), size));
    x += size.width() + horizontal_spacing_;
    row_height = std::max(row_height, size.height());
  }
  end_row(items_.size());
  return y + row_height - rect.top() + margins.bottom();
}

}  // namespace jointer::views
