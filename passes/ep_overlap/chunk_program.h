#pragma once

// A flat training step while graph chunking splits its modules in two: the node list, the node
// properties that graph chunking reads, and functions that add nodes.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/partition/fx_names.h"
#include "passes/bucketing/fx_program.h"
#include "passes/ep_overlap/chunk_sizes.h"

namespace jointer {

// A module that is split in two, in the forward or the backward.
struct ChunkRoot {
  std::string name, parent;  // "layers.1.moe", "layers.1"
  bool is_backward = false;

  [[nodiscard]] std::string_view direction() const { return is_backward ? "backward" : "forward"; }
};

enum class ChunkRole : std::uint8_t { split_boundary, chunk_input, body, materialization };
std::string_view to_string(ChunkRole role);

class ChunkProgram {
 public:
  static constexpr int kNone = -1, kSeveral = -2;

  ChunkProgram(Graph& graph, PartId part, ChunkHints hints);

  Graph& graph;
  PartId part;
  ChunkSizes sizes;
  FxProgram fx;
  FxNames names;

  // --- Properties of nodes ---

  // The module named by the annotations, or an empty string if they name none.
  [[nodiscard]] const std::string& module(NodeId id) { return notes(id).module; }
  [[nodiscard]] bool is_of_expert_parallelism(NodeId id) { return notes(id).is_expert; }
  // True for nodes that belong to a chunk or were added between chunks.
  [[nodiscard]] bool is_marked(NodeId id) { return notes(id).is_marked; }
  [[nodiscard]] bool is_backward(NodeId id) const {
    return runs_in_backward(graph, graph.node(id));
  }
  [[nodiscard]] bool is_call(NodeId id) const { return graph.node(id).kind == NodeKind::call; }
  [[nodiscard]] bool is_tensor(NodeId id) const {
    return graph.single_tensor(graph.node(id)) != nullptr;
  }
  [[nodiscard]] bool is_collective(NodeId id) const;
  [[nodiscard]] bool mutates(NodeId id) const {
    return is_call(id) && graph.op(graph.node(id)).mutates;
  }
  // True if the node is an output, has users, or writes in place.
  [[nodiscard]] bool is_needed(NodeId id) const {
    return graph.node(id).kind == NodeKind::output || !fx.users(id).empty() || mutates(id);
  }
  // True if the result is a size, or has a size or stride, that contains a chunk symbol.
  [[nodiscard]] bool depends(NodeId id);
  // The dimension that contains the chunk symbol; kNone if there is none, kSeveral if there are
  // several.
  [[nodiscard]] int chunk_dim(const Tensor& tensor);
  [[nodiscard]] int chunk_dim(NodeId id);
  [[nodiscard]] bool has_chunk_dim(NodeId id) { return chunk_dim(id) >= 0; }
  [[nodiscard]] std::vector<NodeId> tensor_inputs(NodeId id) const;
  // The nodes that the output reads, in the order of its arguments.
  [[nodiscard]] std::vector<NodeId> outputs() const;

  // The unbacked symbols that the call introduces in the original graph.
  [[nodiscard]] const std::vector<std::string>& bound_symbols(NodeId id) const;

  // --- Changes ---

  // Returns the name of a new unbacked symbol.
  std::string fresh_symbol();

  // Adds a call that is not part of a body, directly before `before`. `chunk` is the call's chunk,
  // or kNone.
  NodeId add(std::string_view target, std::span<const Argument> args, const Value& value,
             NodeId before, const ChunkRoot& root, ChunkRole role, int chunk = kNone);
  // Adds a copy of a call, with a name derived from its target. The caller sets the copy's value.
  NodeId add_copy(Node node, const Argument& args, const Argument& kwargs, NodeId before);
  // Gives the node this name, made unique.
  void rename(NodeId id, std::string_view name);
  [[nodiscard]] std::string_view name(NodeId id) const { return graph.name(id); }
  // Sets the node's marks and direction.
  void mark(NodeId id, const ChunkRoot& root, ChunkRole role, int chunk);
  // Like `mark`, but with the root's parent as the module.
  void mark_synthetic(NodeId id, const ChunkRoot& root, ChunkRole role, int chunk);
  // A tensor with these dimensions in `storage`, or in a new storage if none is given.
  Result<Value> tensor_like(const Tensor& like, std::span<const Dim> shape,
                            std::span<const Dim> stride, Dim offset, StorageId storage);
  // Adds a storage for a tensor of this shape, with the dtype and device of `like`.
  Result<StorageId> add_storage(const Tensor& like, std::span<const Dim> shape);

  // Sets the graph's new order and names.
  Result<void> finish();

 private:
  struct Notes {
    std::string module;
    bool is_expert = false, is_marked = false;
  };
  const Notes& notes(NodeId id);
  void find_symbols();
  StringId marked(StringId custom, const ChunkRoot& root, ChunkRole role, int chunk,
                  bool is_synthetic);

  std::unordered_map<std::uint32_t, Notes> notes_;  // by the text of the annotations
  std::map<std::tuple<std::uint32_t, std::string, bool, ChunkRole, int, bool>, StringId> marks_;
  std::unordered_map<NodeId, std::vector<std::string>> bound_;
  std::int64_t symbols_ = 0;     // the number of the next unbacked symbol
  std::vector<NodeId> renamed_;  // nodes that had a different name in the graph
  std::unordered_map<NodeId, StringId> old_names_;
};

}  // namespace jointer
