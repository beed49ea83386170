#pragma once

#include <QColor>
#include <QPainter>
#include <QString>
#include <vector>

#include "views/document/snapshot.h"
#include "views/graph/ladder.h"
#include "views/theme/theme.h"

namespace jointer::views {

// What boxes are coloured by.
enum class LadderColor : std::uint8_t { time, bytes, flops, exposed, phase, policy, plain };
inline constexpr std::array kLadderColors{
    LadderColor::time,  LadderColor::bytes,  LadderColor::flops, LadderColor::exposed,
    LadderColor::phase, LadderColor::policy, LadderColor::plain};
QString label_of(LadderColor color);

// Colours and numbers of boxes. An amount is a shade of one hue, from none to the most that a row
// of the same depth has; of nodes, to the most that a node has.
class LadderColors {
 public:
  LadderColors(const Snapshot& snapshot, const Ladder& ladder, LadderColor by);

  [[nodiscard]] LadderColor by() const { return by_; }
  [[nodiscard]] bool is_amount() const { return by_ <= LadderColor::exposed; }
  [[nodiscard]] QColor row(const Theme& theme, const LadderRow& row, LadderSide side) const;
  [[nodiscard]] QColor node(const Theme& theme, const Snapshot& snapshot, NodeId node) const;
  // What tells policies apart without colour; of other colours, and of amounts, nothing.
  [[nodiscard]] Qt::BrushStyle row_hatch(const LadderRow& row, LadderSide side) const;
  [[nodiscard]] Qt::BrushStyle node_hatch(const Node& node) const;
  // The number that the colour shows; of colours that show none, the time. Empty for nothing.
  [[nodiscard]] QString row_text(const LadderRow& row, LadderSide side) const;
  [[nodiscard]] QString node_text(const Snapshot& snapshot, NodeId node) const;

  struct LegendEntry {
    QColor color;
    QString text;
    Qt::BrushStyle hatch = Qt::NoBrush;
  };
  // Of amounts: the shades, from least to most, without texts.
  [[nodiscard]] std::vector<LegendEntry> legend(const Theme& theme) const;

 private:
  [[nodiscard]] std::int64_t amount(const LadderRow& row, LadderSide side) const;
  [[nodiscard]] std::int64_t amount(const Snapshot& snapshot, NodeId node) const;
  [[nodiscard]] QString amount_text(std::int64_t amount) const;
  [[nodiscard]] QColor shade(const Theme& theme, double share) const;

  LadderColor by_;
  std::vector<std::int64_t> most_by_depth_;
  std::int64_t most_of_nodes_ = 0;
  std::vector<std::int64_t> by_node_;  // exposed time of starts and waits, or bytes allocated
};

// Of rungs and of policy tags.
QColor rung_color(const Theme& theme, RungState state);
// Of boxes; offloaded ones have ties, as their rungs do.
Qt::BrushStyle rung_hatch(RungState state);
void hatch(QPainter& painter, const QRectF& box, Qt::BrushStyle style, const QColor& fill);
QString rung_letter(RungState state);  // "S"
QString rung_word(RungState state);    // "save"
std::optional<RungState> rung_state(MemoryPolicy policy);
QColor group_color(const Theme& theme, GroupId group);
QString collective_letters(CollectiveKind kind);  // "AG"

}  // namespace jointer::views
