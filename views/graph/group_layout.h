#pragma once

// What is inside a row without rows below it: its nodes as two drawings, one a side.

#include <array>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/layout/dot_layout.h"
#include "views/graph/ladder.h"

namespace jointer::views {

// By side. Node i is the i-th of Ladder::boxes.
using GroupGraphs = std::array<LayoutGraph, 2>;
struct GroupLayout {
  std::array<Layout, 2> sides;
  bool is_by_dot = false;
};
using GroupLayoutPtr = std::shared_ptr<const GroupLayout>;

// Edges are data dependencies between boxes of one side.
GroupGraphs group_graphs(const Graph& graph, const Ladder& ladder, int leaf);

// By `dot` where that answers in time (one process for all of them) and a group is small enough for
// it, else by us. An empty program: by us.
std::vector<GroupLayout> lay_out_groups(std::span<const GroupGraphs> groups,
                                        const LayoutStyle& style, const DotOptions& dot);

// Groups that are joined in the same way share one drawing, so identical layers are laid out once.
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
