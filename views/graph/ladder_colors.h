#pragma once

#include <QColor>
#include <QPainter>
#include <QString>
#include <vector>

#include "views/graph/ladder.h"
#include "views/session/snapshot/snapshot.h"
#include "views/theme/theme.h"
#include "views/widgets/rung_mark.h"

namespace jointer::views {

// The property that determines the color of a box.
enum class LadderColor : std::uint8_t { time, bytes, flops, exposed, phase, policy, plain };
inline constexpr std::array kLadderColors{
    LadderColor::time,  LadderColor::bytes,  LadderColor::flops, LadderColor::exposed,
    LadderColor::phase, LadderColor::policy, LadderColor::plain};
QString label_of(LadderColor color);

// The colors and numbers of boxes. Amounts are shown as shades of one hue, relative to the maximum
// of all rows at the same depth or, for a node, of all calls.
class LadderColors {
 public:
  LadderColors(const Snapshot& snapshot, const Ladder& ladder, LadderColor by);

  [[nodiscard]] LadderColor by() const { return by_; }
  [[nodiscard]] bool is_amount() const { return by_ <= LadderColor::exposed; }
  [[nodiscard]] QColor row(const Theme& theme, const LadderRow& row, LadderSide side) const;
  [[nodiscard]] QColor node(const Theme& theme, const Snapshot& snapshot, NodeId node) const;
  // Hatching that makes policies distinguishable without color. There is no hatching if boxes show
  // anything else.
  [[nodiscard]] Qt::BrushStyle row_hatch(const LadderRow& row, LadderSide side) const;
  [[nodiscard]] Qt::BrushStyle node_hatch(const Node& node) const;
  // The number that the color represents, or the time if the color does not represent a number.
  // Empty if the number is 0.
  [[nodiscard]] QString row_text(const LadderRow& row, LadderSide side) const;
  [[nodiscard]] QString node_text(const Snapshot& snapshot, NodeId node) const;

  struct LegendEntry {
    QColor color;
    QString text;
    Qt::BrushStyle hatch = Qt::NoBrush;
  };
  // For amounts, the shades from minimum to maximum, without text.
  [[nodiscard]] std::vector<LegendEntry> legend(const Theme& theme) const;

 private:
  [[nodiscard]] std::int64_t amount(const LadderRow& row, LadderSide side) const;
  [[nodiscard]] std::int64_t amount(const Snapshot& snapshot, NodeId node) const;
  [[nodiscard]] QString amount_text(std::int64_t amount) const;
  [[nodiscard]] QColor shade(const Theme& theme, double share) const;

  LadderColor by_;
  std::vector<std::int64_t> max_by_depth_;
  std::int64_t max_of_nodes_ = 0;
  std::vector<std::int64_t> by_node_;  // exposed time of starts and waits, or bytes allocated
};

QString collective_letters(CollectiveKind kind);  // "AG"; "copy" for none

}  // namespace jointer::views
