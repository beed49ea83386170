#pragma once

// The graph as a ladder: a tree of rows, one a module, each with what runs in its forward and in
// its backward; and rungs, the tensors that the forward makes and the backward reads. No widget, no
// pixels. What belongs where is at the top of ladder_builder.cpp.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/partition/save_plan.h"
#include "core/schedule/analysis.h"

namespace jointer::views {

enum class LadderSide : std::uint8_t { forward, backward };
inline constexpr std::array kLadderSides{LadderSide::forward, LadderSide::backward};
constexpr std::size_t index_of(LadderSide side) {
  return static_cast<std::size_t>(side);
}
inline LadderSide side_of(const Node& node) {
  return node.phase == Phase::forward ? LadderSide::forward : LadderSide::backward;
}

// What becomes of a tensor between the forward and the backward.
enum class RungState : std::uint8_t {
  save,       // kept: tagged so, or decided by a partitioner
  recompute,  // tagged so, or made again in the backward
  offload,    // tagged so: it waits on the CPU
  automatic,  // kept as things are, and the partitioner is free to decide
};
inline constexpr std::size_t kRungStates = 4;
using BytesByState = std::array<std::int64_t, kRungStates>;

// One storage.
struct Rung {
  NodeId producer;  // in the forward; of what is made again, the node that it was made by first
  std::int64_t bytes = 0;
  RungState state = RungState::save;
  // It may take memory from the forward to the backward, and does unless a plan or a tag has it
  // recomputed. Without a plan the bytes of these are the memory timeline's saved activations. Else
  // the graph's own backward makes it again.
  bool is_kept = true;
  std::uint32_t first_reader = 0, reader_count = 0;  // backward nodes, in Ladder::readers
};

// Collectives of one kind and group.
struct CollectiveMark {
  CollectiveKind kind = CollectiveKind::none;
  GroupId group;
  std::int32_t count = 0;
  std::int64_t exposed_ns = 0;
};

// What runs on one side of a row, all rows below it included.
struct LadderSums {
  std::int64_t nodes = 0;
  std::int64_t ns = 0;  // estimated, collectives included
  std::int64_t flops = 0;
  std::int64_t bytes = 0;  // of storages that it allocates
  std::int64_t exposed_ns = 0;
  std::int64_t recomputed = 0;             // nodes that run again
  std::array<std::int64_t, 6> policies{};  // nodes by MemoryPolicy
  std::vector<CollectiveMark> collectives;

  LadderSums& operator+=(const LadderSums& other);
};

struct LadderRow {
  enum class Kind : std::uint8_t {
    module,  // or a source line
    nodes,   // what a module with modules below it calls itself, or a part of a long list
    fold,    // siblings that are identical
  };
  Kind kind = Kind::module;
  std::string name;  // below its parent: "attention", "layers.0"; of a fold the first one's
  std::string type;  // class, or code of a source line
  std::string path;  // "layers.0.attention"
  std::string key;   // the same row after an edit has the same; of a fold the first one's with a *
  int parent = -1, depth = 0;
  int end = 0;                  // rows below it are [its own index + 1, end)
  int members = 1;              // of a fold
  int number = -1;              // of an element of a list: 0 of layers.0
  std::uint64_t structure = 0;  // equal where operators, shapes, edges and names below it are

  std::array<LadderSums, 2> sides;
  std::int64_t parameters = 0, parameter_bytes = 0;
  BytesByState kept{};                // of its forward's rungs that take memory
  std::int64_t made_again_bytes = 0;  // of those that do not

  [[nodiscard]] const LadderSums& side(LadderSide s) const { return sides[index_of(s)]; }
  [[nodiscard]] std::int64_t kept_bytes() const { return kept[0] + kept[1] + kept[2] + kept[3]; }
};

class Ladder {
 public:
  // Valid for this graph; holds no reference to it.
  Ladder(const Graph& graph, const Analysis& analysis);

  // Rungs as a plan of this joint graph has them: what it hands over, and what it makes again. The
  // bytes of those that are saved add up to PlanFigures::saved_bytes (ladder_rungs.cpp). `joint`:
  // Partition::joint. Cost: linear in nodes and edges.
  void show_plan(const Graph& joint, const SavePlan& plan, const MemoryOptions& memory = {});

  // A parent comes before its children.
  [[nodiscard]] std::span<const LadderRow> rows() const { return rows_; }
  [[nodiscard]] const LadderRow& row(int index) const {
    return rows_[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] bool is_leaf(int index) const { return row(index).end == index + 1; }
  // The row without rows below it that the node is in; -1 for a node that was erased. What a
  // backward is given by its forward is where it was made.
  [[nodiscard]] int row_of(NodeId node) const {
    return node && node.index() < row_by_node_.size() ? row_by_node_[node.index()] : -1;
  }
  // Row of a key, or -1.
  [[nodiscard]] int find(std::string_view key) const;
  // Boxes of a leaf, each after those whose values it reads: its nodes but for parameters, buffers,
  // and placeholders of what the other half of a pair makes.
  [[nodiscard]] std::span<const NodeId> boxes(int leaf, LadderSide side) const;
  // All nodes of a row by id; of one side or of both, parameters included.
  [[nodiscard]] std::vector<NodeId> nodes(int row, std::optional<LadderSide> side = {}) const;
  // The same row in each module that is identical to the one it is in (of those the outermost that
  // has identical siblings), itself included.
  [[nodiscard]] std::vector<int> identical(int row) const;

  [[nodiscard]] std::span<const Rung> rungs() const { return rungs_; }
  [[nodiscard]] std::span<const NodeId> readers(const Rung& rung) const {
    return std::span(readers_).subspan(rung.first_reader, rung.reader_count);
  }
  // Whether anything but an output is there.
  [[nodiscard]] bool has(LadderSide side) const { return has_[index_of(side)]; }
  // The graph names no modules: rows are source lines, or parts of one long list.
  [[nodiscard]] bool are_source_lines() const { return are_source_lines_; }

 private:
  friend class LadderBuilder;
  struct Boxes {
    std::uint32_t first = 0, count = 0;
  };

  // Rungs, and what they come to in each row.
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

// The value that a placeholder stands for: of a backward's placeholder the forward's node.
NodeId source_of(const Graph& graph, NodeId node);

}  // namespace jointer::views
