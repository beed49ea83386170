#pragma once

// The graph as a ladder: a tree of rows, one per module, each with its forward and backward nodes.
// Rungs connect the two sides: they are the storages that the forward produces and the backward
// reads. The ladder has no widgets and no pixels. ladder_builder.cpp describes how nodes are
// assigned to rows.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/partition/save_plan.h"
#include "core/schedule/analysis.h"
#include "views/widgets/rung_state.h"

namespace jointer::views {

enum class LadderSide : std::uint8_t { forward, backward };
inline constexpr std::array kLadderSides{LadderSide::forward, LadderSide::backward};
constexpr std::size_t index_of(LadderSide side) {
  return static_cast<std::size_t>(side);
}
inline LadderSide side_of(const Node& node) {
  return node.phase == Phase::forward ? LadderSide::forward : LadderSide::backward;
}

using BytesByState = std::array<std::int64_t, kRungStates>;

// A storage that the forward produces and the backward reads. The graph need not contain the
// backward.
struct Rung {
  // In the forward. A recomputed storage has its original producer or, if that is not known, the
  // node that recomputes it. A storage that a plan saves has the first value in it that is saved.
  NodeId producer;
  std::int64_t bytes = 0;
  RungState state = RungState::save;
  // False if the graph's own backward recomputes the storage. All other storages occupy memory from
  // the forward to the backward, except those that a plan or a tag recomputes (see `state`).
  // Without a plan, their bytes add up to the memory timeline's saved activations.
  bool is_saved = true;
  std::uint32_t first_reader = 0, reader_count = 0;  // range of backward nodes in Ladder::readers
};

// Collectives of one kind in one process group, or copies to or from the host.
struct CollectiveMark {
  CollectiveKind kind = CollectiveKind::none;
  GroupId group;
  std::int32_t count = 0;
  std::int64_t exposed_ns = 0;
};

// Totals for one side of a row, including all rows below it.
struct LadderSums {
  std::int64_t nodes = 0;  // with boxes (Ladder::boxes)
  std::int64_t ns = 0;     // estimated time, including collectives
  std::int64_t flops = 0;
  std::int64_t bytes = 0;  // bytes of allocated storages
  std::int64_t exposed_ns = 0;
  std::int64_t recomputed = 0;             // number of recomputed nodes
  std::array<std::int64_t, 6> policies{};  // nodes by MemoryPolicy
  std::vector<CollectiveMark> collectives;

  LadderSums& operator+=(const LadderSums& other);
};

struct LadderRow {
  enum class Kind : std::uint8_t {
    module,  // or a source line
    nodes,   // direct calls of a module with submodules, or part of a long list
    fold,    // identical siblings
  };
  Kind kind = Kind::module;
  std::string name;  // relative to the parent: "layers.0"; a fold has the name of its first member
  std::string type;  // class name, or the code of a source line
  std::string path;  // "layers.0.attention"
  std::string key;   // stable across edits; a fold has the path of its first member, preceded by *
  int parent = -1, depth = 0;
  int end = 0;                  // the rows below it are [index + 1, end)
  int members = 1;              // number of rows in a fold
  int number = -1;              // index in a list, such as 0 for layers.0
  std::uint64_t structure = 0;  // of a module; equal for modules with identical contents

  std::array<LadderSums, 2> sides;
  std::int64_t parameters = 0, parameter_bytes = 0;
  BytesByState saved{};               // bytes of the rungs with is_saved, by state
  std::int64_t recomputed_bytes = 0;  // bytes of the other rungs

  [[nodiscard]] const LadderSums& side(LadderSide s) const { return sides[index_of(s)]; }
  [[nodiscard]] std::int64_t saved_bytes() const {
    return saved[0] + saved[1] + saved[2] + saved[3];
  }
};

class Ladder {
 public:
  // Keeps no reference to the graph.
  Ladder(const Graph& graph, const Analysis& analysis);

  // Replaces the rungs with those of a plan for the graph: the storages that the plan saves or
  // offloads, and those that are recomputed. The bytes of the saved storages add up to
  // PlanFigures::saved_bytes, with the exceptions in ladder_rungs.cpp. `joint`: see
  // Partition::joint. Cost: linear in nodes and edges.
  void show_plan(const Graph& joint, const SavePlan& plan, const MemoryOptions& memory = {});
  // Shows the rungs without a plan again, as the constructor does. `graph` and `memory` must be
  // those that the ladder was made from.
  void show_no_plan(const Graph& graph, const MemoryTimeline& memory);

  // Parents precede their children.
  [[nodiscard]] std::span<const LadderRow> rows() const { return rows_; }
  [[nodiscard]] const LadderRow& row(int index) const {
    return rows_[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] bool is_leaf(int index) const { return row(index).end == index + 1; }
  // The leaf row that contains a node, or -1 for an erased node. In a backward, the placeholder for
  // a forward value belongs to the row that produces the value.
  [[nodiscard]] int row_of(NodeId node) const {
    return node && node.index() < row_by_node_.size() ? row_by_node_[node.index()] : -1;
  }
  // The index of the row with this key, or -1.
  [[nodiscard]] int find(std::string_view key) const;
  // The boxes of a leaf in topological order: its nodes except parameters, buffers, and
  // placeholders for values from the other half of a pair.
  [[nodiscard]] std::span<const NodeId> boxes(int leaf, LadderSide side) const;
  // All nodes of a row on one side or both, including parameters, sorted by id.
  [[nodiscard]] std::vector<NodeId> nodes(int row, std::optional<LadderSide> side = {}) const;
  // This row and its counterparts in the modules that are identical to the outermost enclosing
  // module with identical siblings.
  [[nodiscard]] std::vector<int> identical(int row) const;

  [[nodiscard]] std::span<const Rung> rungs() const { return rungs_; }
  [[nodiscard]] std::span<const NodeId> readers(const Rung& rung) const {
    return std::span(readers_).subspan(rung.first_reader, rung.reader_count);
  }
  // True if the side has a box for anything other than an output.
  [[nodiscard]] bool has(LadderSide side) const { return has_[index_of(side)]; }
  // True if the graph has no module names, so that rows are source lines or parts of one long list.
  [[nodiscard]] bool are_source_lines() const { return are_source_lines_; }

 private:
  friend class LadderBuilder;
  struct Boxes {
    std::uint32_t first = 0, count = 0;
  };

  // Stores the rungs and adds up their bytes per row.
  void take(std::vector<Rung> rungs, std::vector<NodeId> readers);

  std::vector<LadderRow> rows_;
  std::vector<std::array<Boxes, 2>> boxes_;  // by row
  std::vector<NodeId> box_nodes_;
  std::vector<int> row_by_node_;
  std::vector<char> side_by_node_;
  std::vector<Rung> rungs_;
  std::vector<NodeId> readers_;
  std::array<bool, 2> has_{};
  bool are_source_lines_ = false;
};

// The node that computes the value of `node`: the forward node if `node` is a placeholder of the
// backward for a forward value, otherwise `node` itself.
NodeId source_of(const Graph& graph, NodeId node);

}  // namespace jointer::views
