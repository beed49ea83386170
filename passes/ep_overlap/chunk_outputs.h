#pragma once

// The live-outs of a module: values of its body that other nodes read. They are passed on per chunk
// or joined.

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "passes/ep_overlap/chunk_body.h"

namespace jointer {

class ChunkOutputs {
 public:
  // Finds the live-outs. The body must outlive this object.
  explicit ChunkOutputs(ChunkBody& body);

  // Determines which readers read halves and which read the whole value. Call this before anything
  // is copied.
  void classify();
  // True for a number that is read both inside and outside the body. Its node stays, in addition to
  // the copies.
  [[nodiscard]] bool is_kept(NodeId id) const { return kept_scalars_.contains(id); }
  // Call this after both copies are made. Error (usage): the halves of a value cannot be joined.
  Result<void> join();

 private:
  struct LiveOut {
    NodeId node;
    std::vector<NodeId> chunked, full;  // the readers of the halves, and of the whole value
    std::uint32_t first_full = ~0U;
  };

  bool takes_chunks(NodeId user);
  [[nodiscard]] bool is_reduction(NodeId id) const;
  [[nodiscard]] bool is_view(NodeId id) const;
  [[nodiscard]] bool is_gradient(NodeId out, const std::vector<NodeId>& users) const;
  [[nodiscard]] std::vector<NodeId> find_suffix(NodeId out) const;
  Result<NodeId> join_one(NodeId out, const std::vector<NodeId>& users, bool early);
  Result<NodeId> add_join(NodeId out, const std::vector<NodeId>& users);
  NodeId name_join(NodeId out, NodeId made, std::string reason);
  Result<NodeId> add_suffix(NodeId boundary, NodeId made, const std::vector<NodeId>& suffix);
  Result<Value> suffix_value(const Node& original, NodeId input);
  StorageId storage_of_whole(StorageId storage);
  Result<Argument> whole_shape(const Tensor& tensor, NodeId before);
  Result<NodeId> add_symbol(const std::string& symbol, NodeId before);

  ChunkBody& body_;
  ChunkProgram& p_;
  const ChunkPlan& plan_;
  std::vector<LiveOut> live_outs_;
  std::unordered_set<NodeId> kept_scalars_;
  std::unordered_map<NodeId, NodeId> joined_;
  std::unordered_set<StorageId> taken_;
  NodeId before_;
};

}  // namespace jointer
