#pragma once

#include <QPersistentModelIndex>
#include <optional>

#include "core/partition/save_plan.h"
#include "views/tables/table_delegate.h"

namespace jointer::views {

// The policy of a row as a switch of three: S save, R recompute, O offload. Of a row whose tensors
// differ, each place is filled as far as they have it.
class PolicyDelegate : public TableDelegate {
  Q_OBJECT
 public:
  using TableDelegate::TableDelegate;

  // Which place of a cell the pointer is at.
  [[nodiscard]] static std::optional<Keep> keep_at(const QRect& cell, QPoint at);
  // Where a place of a cell is.
  [[nodiscard]] static QRect place_of(const QRect& cell, Keep keep);
  // The place under the pointer; none: an invalid index.
  void set_hover(const QModelIndex& index, Keep keep);

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override;
  [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option,
                               const QModelIndex& index) const override;

 private:
  QPersistentModelIndex hovered_;
  Keep hovered_keep_ = Keep::save;
};

}  // namespace jointer::views
