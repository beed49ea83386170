#pragma once

// Positions of the ladder's rows, boxes and rungs as plain numbers, in pixels at a scale of 1, with
// the origin at the top left. They depend on which rows are expanded. ladder_layout.cpp describes
// the algorithm.

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
  double width = 900;  // width of the view; the ladder is at least as wide
  double margin = 10, top = 8;
  double row_height = 26, row_gap = 4, indent = 14;
  double min_box = 190;  // minimum width of the innermost rows
  double min_channel = 150, max_channel = 280;
  double max_column = 680;  // limit if a group's drawing widens the column
  double panel_pad = 14;    // around a group's nodes; contains the outermost rungs
  LayoutStyle node;
};

// The rows that the user expanded, by key. A fold is expanded if its first member is in
// `unfolded_`.
class LadderExpansion {
 public:
  [[nodiscard]] bool is_open(const Ladder& ladder, int row) const;
  void open(const Ladder& ladder, int row);
  void close(const Ladder& ladder, int row);

 private:
  // Sets of keys, so that all parts of a fold stay expanded if an edit splits it.
  std::set<std::string, std::less<>> open_, unfolded_;
};

// A visible row.
struct LadderItem {
  int row = 0;
  bool is_open = false;
  double y = 0;                          // top edge; the height is row_height
  double panel_y = 0, panel_height = 0;  // area with the nodes of an expanded leaf
  double indent = 0;
  GroupLayoutPtr group;                      // the drawing of the nodes of an expanded leaf
  std::array<LadderRect, 2> panels;          // by side
  std::array<double, 2> panel_scales{1, 1};  // very wide drawings are scaled down
  [[nodiscard]] double bottom(const LadderStyle& style) const {
    return panel_height > 0 ? panel_y + panel_height : y + style.row_height;
  }
};

// A row or, if the row shows its nodes, one of them. The side is stored separately.
struct LadderPlace {
  std::int32_t item = -1;
  std::int32_t node = -1;  // index in Ladder::boxes, or -1 for the row itself
  friend auto operator<=>(const LadderPlace&, const LadderPlace&) = default;
};

// All rungs between two places.
struct LadderLink {
  LadderPlace from, to;  // `to` has no item if nothing in this graph reads the storages
  std::uint32_t first_rung = 0, rung_count = 0;  // range in LadderLayout::link_rungs
  BytesByState saved{};
  std::int64_t recomputed_bytes = 0;
  [[nodiscard]] std::int64_t bytes() const {
    return saved[0] + saved[1] + saved[2] + saved[3] + recomputed_bytes;
  }
};

// The common start of all links from a place. The bytes of each rung count once.
struct LadderPort {
  LadderPlace place;
  std::uint32_t first_link = 0, link_count = 0;
  BytesByState saved{};
  std::int64_t recomputed_bytes = 0;
  std::uint32_t rungs = 0;
  [[nodiscard]] std::int64_t bytes() const {
    return saved[0] + saved[1] + saved[2] + saved[3] + recomputed_bytes;
  }
};

class LadderLayout {
 public:
  using FindGroup = std::function<GroupLayoutPtr(int leaf)>;
  // `group` returns the drawing of an expanded leaf; if it returns null, the leaf is shown
  // collapsed.
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
  // The index of the item that shows a row: the row's own item, or that of the collapsed row that
  // contains it; -1 if `row` is negative.
  [[nodiscard]] std::int32_t item_of_row(int row) const {
    return row < 0 ? -1 : item_by_row_[static_cast<std::size_t>(row)];
  }
  [[nodiscard]] LadderPlace place_of(const Ladder& ladder, const Graph& graph, NodeId node) const;

  // The inner edges of the two columns. The rungs run in the channel between them.
  [[nodiscard]] double channel_left() const { return channel_left_; }
  [[nodiscard]] double channel_right() const { return channel_right_; }
  [[nodiscard]] bool has(LadderSide side) const { return has_[index_of(side)]; }
  [[nodiscard]] LadderRect box(const LadderItem& item, LadderSide side) const;
  [[nodiscard]] LadderRect node_box(const LadderItem& item, LadderSide side,
                                    std::size_t node) const;
  // Converts a point in a group's drawing to ladder coordinates; drawings of the backward are
  // flipped.
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
  // One end of a link's line, from its box to the channel: for a row, a point on its edge; for a
  // node, a path that runs between two ranks without crossing boxes.
  [[nodiscard]] std::vector<LayoutPoint> line(LadderPlace place, LadderSide side) const;
  // The bytes of the largest port. Line widths are relative to it.
  [[nodiscard]] std::int64_t max_bytes() const { return max_bytes_; }

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
  std::array<std::vector<std::pair<LadderPlace, double>>, 2> lanes_;  // by side: places and their y
  std::int64_t max_bytes_ = 0;
};

}  // namespace jointer::views
