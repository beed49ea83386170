#pragma once

// Records of the nodes of a graph.

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "core/edit/node_record.h"
#include "core/graph/graph.h"

namespace jointer {

// The first tensor in program order that holds each storage. Records name storages by it.
class StorageOwners {
 public:
  explicit StorageOwners(const Graph& graph);
  struct Owner {
    NodeId node;
    std::size_t tensor = 0;
  };
  [[nodiscard]] Owner of(StorageId storage) const { return owners_[storage.index()]; }

 private:
  std::vector<Owner> owners_;
};

// Records everything except the call: set `copy` and `inputs`, or use `record_call`.
NodeRecord record_node(const Graph& graph, const StorageOwners& owners, NodeId id);
// Adds the operator and the arguments that the node has.
void record_call(const Graph& graph, const Node& node, NodeRecord& record);

ArgumentRecords record_args(const Graph& graph, const Argument& list_or_dict);
// `name_owner` may return another name for the node whose storage a tensor shares; if it returns an
// empty text, the node's own name is used.
ValueRecord record_value(const Graph& graph, const StorageOwners& owners, NodeId id,
                         const std::function<std::string_view(NodeId)>& name_owner = {});
// The value of a node that returns one tensor, in a new storage.
TensorRecord record_tensor(const Graph& graph, NodeId id);

}  // namespace jointer
