#pragma once

#include <QPersistentModelIndex>
#include <optional>

#include "core/partition/save_plan.h"
#include "views/tables/table_delegate.h"

namespace jointer::views {

// A row's policy as a three-way switch: S (save), R (recompute), O (offload). If the tensors of a
// row have different policies, each part is filled in proportion to the number of tensors with that
// policy.
class PolicyDelegate : public TableDelegate {
  Q_OBJECT
 public:
  using TableDelegate::TableDelegate;

  // The part of the switch at a position in a cell; nullopt if there is none.
  [[nodiscard]] static std::optional<PlanAction> action_at(const QRect& cell, QPoint at);
  // The area of a part in a cell.
  [[nodiscard]] static QRect place_of(const QRect& cell, PlanAction action);
  // Sets the part that is under the pointer. An invalid index means that no part is.
  void set_hover(const QModelIndex& index, PlanAction action);

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override;
  [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option,
                               const QModelIndex& index) const override;

 private:
  QPersistentModelIndex hovered_;
  PlanAction hovered_action_ = PlanAction::save;
};

}  // namespace jointer::views
