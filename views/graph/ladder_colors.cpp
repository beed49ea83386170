#include "views/graph/ladder_colors.h"

#include <algorithm>
#include <cmath>

#include "views/session/text/number_text.h"
#include "views/session/translation/tr.h"

namespace jointer::views {
namespace {

std::optional<RungState> most_frequent_state(const LadderSums& sums) {
  std::array<std::int64_t, kRungStates> counts{};
  for (std::size_t p = 0; p < sums.policies.size(); ++p)
    if (const auto state = rung_state(static_cast<MemoryPolicy>(p)))
      counts[static_cast<std::size_t>(*state)] += sums.policies[p];
  const auto largest = std::max_element(counts.begin(), counts.end());
  if (*largest == 0) return std::nullopt;
  return static_cast<RungState>(largest - counts.begin());
}

// The color of boxes in a phase, or of recomputed nodes.
QColor in_phase(const Theme& theme, ColorRole role) {
  return blended(theme.bed, theme.color(role), 0.6);
}

}  // namespace

QString label_of(LadderColor color) {
  constexpr std::array kLabels{
      QT_TRANSLATE_NOOP("Jointer", "time"),  QT_TRANSLATE_NOOP("Jointer", "bytes"),
      QT_TRANSLATE_NOOP("Jointer", "FLOPs"), QT_TRANSLATE_NOOP("Jointer", "exposed"),
      QT_TRANSLATE_NOOP("Jointer", "phase"), QT_TRANSLATE_NOOP("Jointer", "policy"),
      QT_TRANSLATE_NOOP("Jointer", "plain")};
  return tr(kLabels[static_cast<std::size_t>(color)]);
}

LadderColors::LadderColors(const Snapshot& snapshot, const Ladder& ladder, LadderColor by)
    : by_(by) {
  by_node_.assign(is_amount() ? snapshot.graph.node_count() : 0, 0);
  if (by_ == LadderColor::exposed)
    for (const CollectiveTiming& c : snapshot.analysis.simulation.collectives()) {
      by_node_[c.start.index()] = c.exposed_ns;
      if (c.wait) by_node_[c.wait.index()] = c.exposed_ns;
    }
  if (by_ == LadderColor::bytes)
    for (const Lifetime& l : snapshot.analysis.memory.lifetimes())
      if (l.producer) by_node_[l.producer.index()] += l.bytes;
  if (!is_amount()) return;
  for (const LadderRow& row : ladder.rows()) {
    const auto depth = static_cast<std::size_t>(row.depth);
    if (depth >= max_by_depth_.size()) max_by_depth_.resize(depth + 1, 0);
    for (const LadderSide side : kLadderSides)
      max_by_depth_[depth] = std::max(max_by_depth_[depth], amount(row, side));
  }
  for (const NodeId id : snapshot.graph.order())
    if (snapshot.graph.node(id).kind == NodeKind::call)
      max_of_nodes_ = std::max(max_of_nodes_, amount(snapshot, id));
}

std::int64_t LadderColors::amount(const LadderRow& row, LadderSide side) const {
  const LadderSums& sums = row.side(side);
  switch (by_) {
    case LadderColor::bytes:
      return sums.bytes;
    case LadderColor::flops:
      return sums.flops;
    case LadderColor::exposed:
      return sums.exposed_ns;
    default:
      return sums.ns;
  }
}

std::int64_t LadderColors::amount(const Snapshot& snapshot, NodeId node) const {
  switch (by_) {
    case LadderColor::bytes:
    case LadderColor::exposed:
      return by_node_[node.index()];
    case LadderColor::flops:
      return snapshot.analysis.flops[node.index()].total;
    default:
      return snapshot.analysis.costs[node.index()].ns;
  }
}

QString LadderColors::amount_text(std::int64_t amount) const {
  if (amount <= 0) return {};
  if (by_ == LadderColor::bytes) return bytes_text(amount);
  if (by_ == LadderColor::flops) return flops_text(amount);
  return time_text(amount);
}

QString LadderColors::row_text(const LadderRow& row, LadderSide side) const {
  return amount_text(amount(row, side));
}

QString LadderColors::node_text(const Snapshot& snapshot, NodeId node) const {
  return amount_text(amount(snapshot, node));
}

QColor LadderColors::shade(const Theme& theme, double share) const {
  const QColor hue =
      theme.color(by_ == LadderColor::exposed ? ColorRole::exposed : ColorRole::amount);
  // Use the square root, since most modules are small compared with the largest module.
  return share <= 0 ? theme.bed : blended(theme.bed, hue, 0.06 + 0.74 * std::sqrt(share));
}

QColor LadderColors::row(const Theme& theme, const LadderRow& row, LadderSide side) const {
  const LadderSums& sums = row.side(side);
  if (is_amount()) {
    const std::int64_t largest = max_by_depth_[static_cast<std::size_t>(row.depth)];
    return shade(
        theme,
        largest == 0 ? 0.0 : static_cast<double>(amount(row, side)) / static_cast<double>(largest));
  }
  if (by_ == LadderColor::phase) {
    if (side == LadderSide::forward) return in_phase(theme, ColorRole::forward);
    const double again =
        sums.nodes == 0 ? 0.0
                        : static_cast<double>(sums.recomputed) / static_cast<double>(sums.nodes);
    return blended(in_phase(theme, ColorRole::backward), in_phase(theme, ColorRole::recomputed),
                   again);
  }
  if (by_ == LadderColor::policy)
    if (const auto state = most_frequent_state(sums))
      return blended(theme.bed, rung_color(theme, *state), 0.5);
  return theme.bed;
}

QColor LadderColors::node(const Theme& theme, const Snapshot& snapshot, NodeId id) const {
  const Node& node = snapshot.graph.node(id);
  if (is_amount())
    return shade(theme, max_of_nodes_ == 0 ? 0.0
                                           : static_cast<double>(amount(snapshot, id)) /
                                                 static_cast<double>(max_of_nodes_));
  if (by_ == LadderColor::phase)
    return in_phase(theme, node.has(Node::recomputed)     ? ColorRole::recomputed
                           : node.phase == Phase::forward ? ColorRole::forward
                                                          : ColorRole::backward);
  if (by_ == LadderColor::policy)
    if (const auto state = rung_state(node.policy))
      return blended(theme.bed, rung_color(theme, *state), 0.5);
  return theme.bed;
}

Qt::BrushStyle LadderColors::row_hatch(const LadderRow& row, LadderSide side) const {
  if (by_ != LadderColor::policy) return Qt::NoBrush;
  const auto state = most_frequent_state(row.side(side));
  return state ? rung_hatch(*state) : Qt::NoBrush;
}

Qt::BrushStyle LadderColors::node_hatch(const Node& node) const {
  if (by_ != LadderColor::policy) return Qt::NoBrush;
  const auto state = rung_state(node.policy);
  return state ? rung_hatch(*state) : Qt::NoBrush;
}

std::vector<LadderColors::LegendEntry> LadderColors::legend(const Theme& theme) const {
  std::vector<LegendEntry> entries;
  if (is_amount()) {
    for (const double share : {0.0, 0.1, 0.3, 0.6, 1.0})
      entries.push_back({shade(theme, share), {}});
  } else if (by_ == LadderColor::phase) {
    entries.push_back({in_phase(theme, ColorRole::forward), tr("forward")});
    entries.push_back({in_phase(theme, ColorRole::backward), tr("backward")});
    entries.push_back({in_phase(theme, ColorRole::recomputed), tr("recomputed")});
  } else if (by_ == LadderColor::policy) {
    for (const RungState state : {RungState::save, RungState::recompute, RungState::offload})
      entries.push_back(
          {blended(theme.bed, rung_color(theme, state), 0.5), rung_word(state), rung_hatch(state)});
    entries.push_back({theme.bed, tr("no tag")});
  }
  return entries;
}

QString collective_letters(CollectiveKind kind) {
  // Indexed by CollectiveKind, where `none` stands for a copy to or from the host.
  constexpr std::array kLetters{"copy", "AG", "RS", "AR", "A2A", "BC"};
  return QString::fromLatin1(kLetters[static_cast<std::size_t>(kind)]);
}

}  // namespace jointer::views
