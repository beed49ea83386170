#include "views/graph/ladder.h"

#include <algorithm>
#include <utility>

#include "views/graph/ladder_builder.h"
#include "views/graph/ladder_rungs.h"

namespace jointer::views {

LadderSums& LadderSums::operator+=(const LadderSums& other) {
  nodes += other.nodes;
  ns += other.ns;
  flops += other.flops;
  bytes += other.bytes;
  exposed_ns += other.exposed_ns;
  recomputed += other.recomputed;
  for (std::size_t i = 0; i < policies.size(); ++i) policies[i] += other.policies[i];
  for (const CollectiveMark& mark : other.collectives) {
    const auto same = std::find_if(
        collectives.begin(), collectives.end(),
        [&](const CollectiveMark& m) { return m.kind == mark.kind && m.group == mark.group; });
    if (same == collectives.end()) {
      collectives.push_back(mark);
      continue;
    }
    same->count += mark.count;
    same->exposed_ns += mark.exposed_ns;
  }
  return *this;
}

Ladder::Ladder(const Graph& graph, const Analysis& analysis) {
  LadderBuilder(graph, analysis, *this).run();
}

void Ladder::show_plan(const Graph& joint, const SavePlan& plan, const MemoryOptions& memory) {
  LadderRungs found = find_rungs_of_plan(joint, plan, memory, *this);
  take(std::move(found.rungs), std::move(found.readers));
}

void Ladder::show_no_plan(const Graph& graph, const MemoryTimeline& memory) {
  LadderRungs found = find_rungs(graph, memory, *this);
  take(std::move(found.rungs), std::move(found.readers));
}

void Ladder::take(std::vector<Rung> rungs, std::vector<NodeId> readers) {
  rungs_ = std::move(rungs);
  readers_ = std::move(readers);
  for (LadderRow& row : rows_) {
    row.saved = {};
    row.recomputed_bytes = 0;
  }
  for (const Rung& rung : rungs_) {
    LadderRow& row = rows_[static_cast<std::size_t>(row_of(rung.producer))];
    if (rung.is_saved)
      row.saved[static_cast<std::size_t>(rung.state)] += rung.bytes;
    else
      row.recomputed_bytes += rung.bytes;
  }
  for (std::size_t i = rows_.size(); i-- > 0;) {
    if (rows_[i].parent < 0) continue;
    LadderRow& above = rows_[static_cast<std::size_t>(rows_[i].parent)];
    for (std::size_t s = 0; s < kRungStates; ++s) above.saved[s] += rows_[i].saved[s];
    above.recomputed_bytes += rows_[i].recomputed_bytes;
  }
}

int Ladder::find(std::string_view key) const {
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (rows_[i].key == key) return static_cast<int>(i);
  return -1;
}

std::span<const NodeId> Ladder::boxes(int leaf, LadderSide side) const {
  const Boxes& b = boxes_[static_cast<std::size_t>(leaf)][index_of(side)];
  return std::span(box_nodes_).subspan(b.first, b.count);
}

std::vector<NodeId> Ladder::nodes(int row, std::optional<LadderSide> side) const {
  std::vector<NodeId> nodes;
  const int end = this->row(row).end;
  for (std::size_t i = 0; i < row_by_node_.size(); ++i)
    if (row_by_node_[i] >= row && row_by_node_[i] < end &&
        (!side || side_by_node_[i] == static_cast<char>(*side)))
      nodes.emplace_back(i);
  return nodes;
}

std::vector<int> Ladder::identical(int row) const {
  // The module that contains a row, ignoring folds.
  const auto above = [this](int r) {
    do r = this->row(r).parent;
    while (r >= 0 && this->row(r).kind == LadderRow::Kind::fold);
    return r;
  };
  // The outermost enclosing module with identical siblings, which need not be adjacent.
  int outermost = row;
  std::vector<int> siblings{row};
  for (int r = row; r >= 0; r = above(r)) {
    if (this->row(r).kind != LadderRow::Kind::module) continue;
    std::vector<int> same;
    for (int i = 0; i < static_cast<int>(rows_.size()); ++i)
      if (this->row(i).kind == LadderRow::Kind::module &&
          this->row(i).structure == this->row(r).structure && above(i) == above(r))
        same.push_back(i);
    if (same.size() < 2) continue;
    outermost = r;
    siblings = std::move(same);
  }
  // Apart from the asterisk of a fold, a row's key is a prefix of the keys of the rows below it.
  const bool is_fold = this->row(row).kind == LadderRow::Kind::fold;
  const std::string below =
      outermost == row
          ? std::string()
          : this->row(row).key.substr(this->row(outermost).key.size() + (is_fold ? 1 : 0));
  std::vector<int> rows;
  for (const int sibling : siblings) {
    const std::string key =
        (is_fold && outermost != row ? "*" : "") + this->row(sibling).key + below;
    for (int r = sibling; r < this->row(sibling).end; ++r)
      if (this->row(r).key == key) rows.push_back(r);
  }
  return rows;
}

NodeId source_of(const Graph& graph, NodeId node) {
  while (graph.node(node).kind == NodeKind::placeholder && graph.node(node).partner)
    node = graph.node(node).partner;
  return node;
}

}  // namespace jointer::views
