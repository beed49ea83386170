#pragma once

// Where the ladder's rows, boxes and rungs are, in pixels at full size, from (0, 0) at the top
// left. Plain numbers: what is expanded decides which rows there are. See ladder_layout.cpp.

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "views/graph/group_layout.h"
#include "views/graph/ladder.h"

namespace jointer::views {

struct LadderRect {
  double x = 0, y = 0, width = 0, height = 0;
  [[nodiscard]] double right() const { return x + width; }
  [[nodiscard]] double bottom() const { return y + height; }
  [[nodiscard]] double middle_y() const { return y + height / 2; }
  [[nodiscard]] bool contains(double px, double py) const {
    return px >= x && px < x + width && py >= y && py < y + height;
  }
};

struct LadderStyle {
  double width = 900;  // of the view: the ladder fills it where nothing needs more
  double margin = 10, top = 8;
  double row_height = 26, row_gap = 4, indent = 14;
  double least_box = 190;  // of the innermost row
  double least_channel = 150, most_channel = 280;
  double widest_column = 680;  // a group's drawing makes its column as wide, and no wider
  double panel_pad = 14;       // around a group's nodes; the outermost rungs run there
  LayoutStyle node;
};

// Rows that a person opened, by key. A fold is open if its first member is among `unfolded`.
class LadderExpansion {
 public:
  [[nodiscard]] bool is_open(const Ladder& ladder, int row) const;
  void open(const Ladder& ladder, int row);
  void close(const Ladder& ladder, int row);
  [[nodiscard]] bool empty() const { return open_.empty() && unfolded_.empty(); }
  void clear();

 private:
  // A fold that an edit splits stays open in all its parts.
  std::set<std::string, std::less<>> open_, unfolded_;
};

// A row on screen.
struct LadderItem {
  int row = 0;
  bool is_open = false;
  double y = 0;                          // its top; it is row_height high
  double panel_y = 0, panel_height = 0;  // of an open leaf's nodes
  double indent = 0;
  GroupLayoutPtr group;                      // of an open leaf
  std::array<LadderRect, 2> panels;          // by side
  std::array<double, 2> panel_scales{1, 1};  // a drawing that is very wide is made smaller
  [[nodiscard]] double bottom(const LadderStyle& style) const {
    return panel_height > 0 ? panel_y + panel_height : y + style.row_height;
  }
};

// A row or, where that is open to its nodes, a node; on one side.
struct LadderPlace {
  std::int32_t item = -1;
  std::int32_t node = -1;  // of Ladder::boxes; -1: the row itself
  friend auto operator<=>(const LadderPlace&, const LadderPlace&) = default;
};

// Rungs with the same ends.
struct LadderLink {
  LadderPlace from, to;  // `to` without an item: nobody in this graph reads it
  std::uint32_t first_rung = 0, rung_count = 0;  // in LadderLayout::link_rungs
  BytesByState kept{};
  std::int64_t made_again_bytes = 0;
  [[nodiscard]] std::int64_t bytes() const {
    return kept[0] + kept[1] + kept[2] + kept[3] + made_again_bytes;
  }
};

// Where all links from one place start: what is made there, each tensor once.
struct LadderPort {
  LadderPlace place;
  std::uint32_t first_link = 0, link_count = 0;
  BytesByState kept{};
  std::int64_t made_again_bytes = 0;
  std::uint32_t rungs = 0;
  [[nodiscard]] std::int64_t bytes() const {
    return kept[0] + kept[1] + kept[2] + kept[3] + made_again_bytes;
  }
};

class LadderLayout {
 public:
  using FindGroup = std::function<GroupLayoutPtr(int leaf)>;
  // `group` gives the drawing of an open leaf's nodes; null: it is shown closed for now.
  LadderLayout(const Ladder& ladder, const LadderExpansion& expansion, const LadderStyle& style,
               const FindGroup& group);

  [[nodiscard]] const LadderStyle& style() const { return style_; }
  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] double height() const { return height_; }
  // From top to bottom.
  [[nodiscard]] std::span<const LadderItem> items() const { return items_; }
  [[nodiscard]] const LadderItem& item(std::int32_t index) const {
    return items_[static_cast<std::size_t>(index)];
  }
  // The item that stands for a row: its own, or that of the closed row it is in. -1: none.
  [[nodiscard]] std::int32_t item_of_row(int row) const;
  [[nodiscard]] LadderPlace place_of(const Ladder& ladder, const Graph& graph, NodeId node) const;

  // The inner edges of the two columns; between them lies the channel of the rungs.
  [[nodiscard]] double channel_left() const { return channel_left_; }
  [[nodiscard]] double channel_right() const { return channel_right_; }
  [[nodiscard]] bool has(LadderSide side) const { return has_[index_of(side)]; }
  [[nodiscard]] LadderRect box(const LadderItem& item, LadderSide side) const;
  [[nodiscard]] LadderRect node_box(const LadderItem& item, LadderSide side,
                                    std::size_t node) const;
  // A point of a group's drawing, in the ladder: backward's drawings stand on their heads.
  [[nodiscard]] LayoutPoint in_panel(const LadderItem& item, LadderSide side,
                                     LayoutPoint point) const;

  [[nodiscard]] std::span<const LadderPort> ports() const { return ports_; }
  [[nodiscard]] std::span<const LadderLink> links(const LadderPort& port) const {
    return std::span(links_).subspan(port.first_link, port.link_count);
  }
  [[nodiscard]] std::span<const LadderLink> links() const { return links_; }
  // Indices into Ladder::rungs.
  [[nodiscard]] std::span<const std::uint32_t> link_rungs(const LadderLink& link) const {
    return std::span(link_rungs_).subspan(link.first_rung, link.rung_count);
  }
  // The line of a link on one side: from its box to the channel's edge. Of a row, the edge alone;
  // of a node, down out of its box and along between two ranks, where no box is.
  [[nodiscard]] std::vector<LayoutPoint> line(LadderPlace place, LadderSide side) const;
  // The most bytes that any port has: what thickness is relative to.
  [[nodiscard]] std::int64_t most_bytes() const { return most_bytes_; }

 private:
  void add_items(const Ladder& ladder, const LadderExpansion& expansion, const FindGroup& group);
  void place_columns();
  void add_links(const Ladder& ladder);
  void assign_lanes();
  [[nodiscard]] LadderPlace place_in(const Ladder& ladder, int leaf, NodeId node,
                                     LadderSide side) const;

  LadderStyle style_;
  std::vector<LadderItem> items_;
  std::vector<std::int32_t> item_by_row_;
  std::array<bool, 2> has_{};
  bool has_rungs_ = false;
  double width_ = 0, height_ = 0;
  double channel_left_ = 0, channel_right_ = 0;
  std::vector<LadderPort> ports_;
  std::vector<LadderLink> links_;
  std::vector<std::uint32_t> link_rungs_;
  std::array<std::vector<std::pair<LadderPlace, double>>, 2> lanes_;  // by side; y, by place
  std::int64_t most_bytes_ = 0;
};

}  // namespace jointer::views
