#pragma once

#include "views/graph/ladder.h"
#include "views/session/snapshot/module_locations.h"

namespace jointer::views {

// Builds a ladder; see ladder_builder.cpp.
class LadderBuilder {
 public:
  LadderBuilder(const Graph& graph, const Analysis& analysis, Ladder& ladder)
      : graph_(graph), analysis_(analysis), ladder_(ladder) {}
  void run();

 private:
  // A module location that becomes a row. Parametrizations are merged into their parents.
  struct Spot {
    std::string name, type, path;
    int parent = -1, number = -1;
    std::vector<int> children;
    std::array<std::vector<NodeId>, 2> boxes;
    std::vector<NodeId> others;  // parameters, buffers, placeholders for values from the other half
    std::size_t first_step = 0;  // position of the first call
    std::uint64_t structure = 0;
  };

  void find_spots();
  [[nodiscard]] int adopting_spot(NodeId node) const;
  [[nodiscard]] int common_spot(int a, int b) const;
  void find_structure();
  void add_rows(int spot, int parent);
  void add_siblings(const std::vector<int>& siblings, int parent);
  int add_row(LadderRow row, int parent);
  void add_leaf(int spot, LadderRow row, int parent);
  void give(int row, LadderSide side, std::span<const NodeId> boxes);
  void give_others(int row, const Spot& spot);
  void sum_up();

  const Graph& graph_;
  const Analysis& analysis_;
  Ladder& ladder_;
  std::vector<Spot> spots_;
  std::vector<int> roots_;
  std::vector<int> spot_by_node_;
};

}  // namespace jointer::views
