// Lays out two columns with a channel between them. A row has a box in each column; the children of
// an expanded row are placed below it and indented. An expanded leaf shows its nodes below its
// boxes, in the two drawings made by group_layout.h: from top to bottom in the left column and from
// bottom to top in the right column. The bottoms of the drawings are aligned, since the backward
// starts where the forward ends.
//
// A rung connects the inner edges of two boxes. The rung of a node starts below the node and runs
// to the edge in a lane between two ranks, so that it crosses no box. The lanes in the gap between
// two ranks are stacked such that rungs do not cross: the node nearest to the channel has the
// topmost lane.
//
// Cost: linear in the number of visible rows, rungs and readers of rungs, plus sorting them.

#include "views/graph/ladder_layout.h"

#include <algorithm>
#include <map>

#include "core/base/index.h"

namespace jointer::views {
namespace {

// Index of a node among a leaf's boxes, or -1. The search is linear, since boxes need not be sorted
// by id and there are few.
std::int32_t box_index(const Ladder& ladder, int leaf, LadderSide side, NodeId node) {
  const auto boxes = ladder.boxes(leaf, side);
  const auto found = std::find(boxes.begin(), boxes.end(), node);
  return found == boxes.end() ? -1 : static_cast<std::int32_t>(found - boxes.begin());
}

}  // namespace

// --- Expansion ---

bool LadderExpansion::is_open(const Ladder& ladder, int row) const {
  const LadderRow& r = ladder.row(row);
  return r.kind == LadderRow::Kind::fold ? unfolded_.contains(ladder.row(row + 1).key)
                                         : open_.contains(r.key);
}

void LadderExpansion::open(const Ladder& ladder, int row) {
  const LadderRow& r = ladder.row(row);
  if (r.kind != LadderRow::Kind::fold) {
    open_.insert(r.key);
    return;
  }
  for (int member = row + 1; member < r.end; member = ladder.row(member).end)
    unfolded_.insert(ladder.row(member).key);
}

void LadderExpansion::close(const Ladder& ladder, int row) {
  const LadderRow& r = ladder.row(row);
  if (r.kind != LadderRow::Kind::fold) {
    open_.erase(r.key);
    return;
  }
  for (int member = row + 1; member < r.end; member = ladder.row(member).end)
    unfolded_.erase(ladder.row(member).key);
}

// --- Rows ---

LadderLayout::LadderLayout(const Ladder& ladder, const LadderExpansion& expansion,
                           const LadderStyle& style, const FindGroup& group)
    : style_(style), item_by_row_(ladder.rows().size(), -1), has_rungs_(!ladder.rungs().empty()) {
  for (const LadderSide side : kLadderSides) has_[index_of(side)] = ladder.has(side);
  add_items(ladder, expansion, group);
  place_columns();
  add_links(ladder);
  assign_lanes();
}

void LadderLayout::add_items(const Ladder& ladder, const LadderExpansion& expansion,
                             const FindGroup& group) {
  double y = style_.top;
  for (int row = 0; row < static_cast<int>(ladder.rows().size());) {
    LadderItem item{.row = row, .is_open = expansion.is_open(ladder, row), .y = y};
    item.indent = ladder.row(row).depth * style_.indent;
    y += style_.row_height;
    const bool is_leaf = ladder.is_leaf(row);
    if (item.is_open && is_leaf) {
      item.group = group(row);
      item.is_open = item.group != nullptr;
    }
    if (item.group) {
      double tallest = 0;
      for (std::size_t side = 0; side < 2; ++side) {
        const Layout& layout = item.group->sides[side];
        const double room = style_.max_column - item.indent - 2 * style_.panel_pad;
        item.panel_scales[side] = std::min(1.0, room / std::max(layout.width, 1.0));
        tallest = std::max(tallest, layout.height * item.panel_scales[side]);
      }
      item.panel_y = y;
      item.panel_height = tallest + 2 * style_.panel_pad;
      y += item.panel_height;
    }
    y += style_.row_gap;
    const auto index = static_cast<std::int32_t>(items_.size());
    const int end = item.is_open || is_leaf ? row + 1 : ladder.row(row).end;
    for (int r = row; r < end; ++r) item_by_row_[static_cast<std::size_t>(r)] = index;
    items_.push_back(std::move(item));
    row = end;
  }
  height_ = y + style_.top;
}

void LadderLayout::place_columns() {
  const bool both = has_[0] && has_[1];
  std::array<double, 2> columns{};
  double channel = std::clamp(style_.width * 0.22, style_.min_channel, style_.max_channel);
  if (!both && !has_rungs_) channel = 0;
  const double room = style_.width - 2 * style_.margin - channel;
  double deepest = 0;
  for (const LadderItem& item : items_) deepest = std::max(deepest, item.indent);
  for (const LadderSide side : kLadderSides) {
    double& column = columns[index_of(side)];
    if (!has(side)) continue;
    column = std::max(both ? room / 2 : room, deepest + style_.min_box);
    for (const LadderItem& item : items_)
      if (item.group)
        column = std::max(column, item.indent + 2 * style_.panel_pad +
                                      item.group->sides[index_of(side)].width *
                                          item.panel_scales[index_of(side)]);
  }
  // The channel becomes narrower if wide drawings widen the columns.
  const double free = style_.width - 2 * style_.margin - columns[0] - columns[1];
  if (channel > 0) channel = std::clamp(free, style_.min_channel, channel);
  channel_left_ = style_.margin + columns[0];
  channel_right_ = channel_left_ + channel;
  width_ = channel_right_ + columns[1] + style_.margin;
  for (LadderItem& item : items_) {
    if (!item.group) continue;
    for (const LadderSide side : kLadderSides) {
      const Layout& layout = item.group->sides[index_of(side)];
      const double scale = item.panel_scales[index_of(side)];
      const double width = layout.width * scale, height = layout.height * scale;
      const LadderRect b = box(item, side);
      // Each drawing is centered in its column; the bottoms of both are aligned.
      item.panels[index_of(side)] = {b.x + (b.width - width) / 2,
                                     item.panel_y + item.panel_height - style_.panel_pad - height,
                                     width, height};
    }
  }
}

LadderRect LadderLayout::box(const LadderItem& item, LadderSide side) const {
  if (side == LadderSide::forward)
    return {style_.margin + item.indent, item.y, channel_left_ - style_.margin - item.indent,
            style_.row_height};
  return {channel_right_, item.y, width_ - style_.margin - item.indent - channel_right_,
          style_.row_height};
}

LayoutPoint LadderLayout::in_panel(const LadderItem& item, LadderSide side,
                                   LayoutPoint point) const {
  const LadderRect& panel = item.panels[index_of(side)];
  const double scale = item.panel_scales[index_of(side)];
  return {panel.x + point.x * scale, side == LadderSide::forward
                                         ? panel.y + point.y * scale
                                         : panel.bottom() - point.y * scale};
}

LadderRect LadderLayout::node_box(const LadderItem& item, LadderSide side, std::size_t node) const {
  const LayoutPoint c = in_panel(item, side, item.group->sides[index_of(side)].centers[node]);
  const double scale = item.panel_scales[index_of(side)];
  const double width = style_.node.node_width * scale, height = style_.node.node_height * scale;
  return {c.x - width / 2, c.y - height / 2, width, height};
}

LadderPlace LadderLayout::place_in(const Ladder& ladder, int leaf, NodeId node,
                                   LadderSide side) const {
  LadderPlace place{item_of_row(leaf), -1};
  if (place.item >= 0 && item(place.item).group) place.node = box_index(ladder, leaf, side, node);
  return place;
}

LadderPlace LadderLayout::place_of(const Ladder& ladder, const Graph& graph, NodeId node) const {
  const int leaf = ladder.row_of(node);
  if (leaf < 0) return {};
  const NodeId source = source_of(graph, node);
  return place_in(ladder, leaf, source, side_of(graph.node(source)));
}

// --- Rungs ---

void LadderLayout::add_links(const Ladder& ladder) {
  struct End {
    LadderPlace from, to;
    std::uint32_t rung;
    auto operator<=>(const End&) const = default;
  };
  std::vector<End> ends;
  const auto rungs = ladder.rungs();
  for (std::uint32_t i = 0; i < rungs.size(); ++i) {
    const LadderPlace from =
        place_in(ladder, ladder.row_of(rungs[i].producer), rungs[i].producer, LadderSide::forward);
    if (from.item < 0) continue;
    for (const NodeId reader : ladder.readers(rungs[i]))
      ends.push_back(
          {from, place_in(ladder, ladder.row_of(reader), reader, LadderSide::backward), i});
    if (rungs[i].reader_count == 0) ends.push_back({from, {}, i});
  }
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  const auto count = [](auto& sums, const Rung& rung) {
    if (rung.is_saved)
      sums.saved[static_cast<std::size_t>(rung.state)] += rung.bytes;
    else
      sums.recomputed_bytes += rung.bytes;
  };
  std::vector<std::uint32_t> of_port;
  for (std::size_t i = 0; i < ends.size();) {
    LadderPort port{.place = ends[i].from, .first_link = static_cast<std::uint32_t>(links_.size())};
    of_port.clear();
    while (i < ends.size() && ends[i].from == port.place) {
      LadderLink link{.from = port.place,
                      .to = ends[i].to,
                      .first_rung = static_cast<std::uint32_t>(link_rungs_.size())};
      for (; i < ends.size() && ends[i].from == link.from && ends[i].to == link.to; ++i) {
        link_rungs_.push_back(ends[i].rung);
        of_port.push_back(ends[i].rung);
        ++link.rung_count;
        count(link, rungs[ends[i].rung]);
      }
      links_.push_back(link);
      ++port.link_count;
    }
    std::sort(of_port.begin(), of_port.end());
    of_port.erase(std::unique(of_port.begin(), of_port.end()), of_port.end());
    for (const std::uint32_t rung : of_port) count(port, rungs[rung]);
    port.rungs = static_cast<std::uint32_t>(of_port.size());
    max_bytes_ = std::max(max_bytes_, port.bytes());
    ports_.push_back(port);
  }
}

void LadderLayout::assign_lanes() {
  for (const LadderSide side : kLadderSides) {
    std::vector<LadderPlace> places;
    for (const LadderLink& link : links_) {
      const LadderPlace& place = side == LadderSide::forward ? link.from : link.to;
      if (place.node >= 0) places.push_back(place);
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    // The gaps between ranks, each with the nodes whose rungs run through it.
    std::map<std::pair<std::int32_t, std::uint32_t>, std::vector<LadderPlace>> gaps;
    for (const LadderPlace& place : places) {
      const Layout& layout = item(place.item).group->sides[index_of(side)];
      gaps[{place.item, layout.ranks[as_index(place.node)]}].push_back(place);
    }
    for (auto& [gap, members] : gaps) {
      const LadderItem& of = item(gap.first);
      const Layout& layout = of.group->sides[index_of(side)];
      const double sign = side == LadderSide::forward ? 1 : -1;
      std::ranges::stable_sort(members, std::ranges::greater(), [&](const auto& each) {
        return sign * layout.centers[as_index(each.node)].x;
      });
      const double top = node_box(of, side, as_index(members.front().node)).bottom();
      for (std::size_t i = 0; i < members.size(); ++i)
        lanes_[index_of(side)].emplace_back(
            members[i], top + std::min(style_.node.rank_gap, style_.panel_pad) *
                                  of.panel_scales[index_of(side)] * static_cast<double>(i + 1) /
                                  static_cast<double>(members.size() + 1));
    }
    std::sort(lanes_[index_of(side)].begin(), lanes_[index_of(side)].end());
  }
}

std::vector<LayoutPoint> LadderLayout::line(LadderPlace place, LadderSide side) const {
  const bool is_forward = side == LadderSide::forward;
  const double edge = is_forward ? channel_left_ : channel_right_;
  const LadderItem& of = item(place.item);
  if (place.node < 0) return {{edge, of.y + style_.row_height / 2}};
  const auto& lanes = lanes_[index_of(side)];
  const auto lane =
      std::lower_bound(lanes.begin(), lanes.end(), place,
                       [](const auto& entry, const LadderPlace& p) { return entry.first < p; });
  const LadderRect b = node_box(of, side, as_index(place.node));
  // Start off-center, since the drawing's edges use the center.
  const double x = b.x + b.width * (is_forward ? 0.85 : 0.15);
  const double y = lane != lanes.end() && lane->first == place ? lane->second : b.bottom();
  return {{x, b.bottom()}, {x, y}, {edge, y}};
}

}  // namespace jointer::views
