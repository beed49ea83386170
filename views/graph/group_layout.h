#pragma once

// Lays out the nodes of a leaf row as two drawings, one per side.

#include <array>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/layout/dot_layout.h"
#include "views/graph/ladder.h"

namespace jointer::views {

// Indexed by side. Node i corresponds to element i of Ladder::boxes.
using GroupGraphs = std::array<LayoutGraph, 2>;
struct GroupLayout {
  std::array<Layout, 2> sides;
  bool is_by_dot = false;
  std::array<std::vector<LayoutEdge>, 2> edges = {};  // by side; edge i has route i
};
using GroupLayoutPtr = std::shared_ptr<const GroupLayout>;

// Edges are data dependencies between boxes of the same side.
GroupGraphs group_graphs(const Graph& graph, const Ladder& ladder, int leaf);

// Lays out all sufficiently small groups with a single `dot` process. Uses Jointer's own layout for
// the others, for groups that dot draws too wide, and for all groups if dot fails or does not
// finish in time, or if the name of its program is empty.
std::vector<GroupLayout> lay_out_groups(std::span<const GroupGraphs> groups,
                                        const LayoutStyle& style, const DotOptions& dot);

// Caches layouts: groups with the same structure share a drawing, so identical layers are laid out
// once.
class GroupLayouts {
 public:
  [[nodiscard]] GroupLayoutPtr find(const GroupGraphs& graphs) const {
    const auto found = layouts_.find(graphs);
    return found == layouts_.end() ? nullptr : found->second;
  }
  void add(GroupGraphs graphs, GroupLayoutPtr layout) {
    layouts_.insert_or_assign(std::move(graphs), std::move(layout));
  }
  [[nodiscard]] std::size_t size() const { return layouts_.size(); }

 private:
  std::map<GroupGraphs, GroupLayoutPtr> layouts_;
};

}  // namespace jointer::views
