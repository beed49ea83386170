#pragma once

// Makes records of a graph's nodes.

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "core/edit/node_record.h"
#include "core/graph/graph.h"

namespace jointer {

// For each storage, the first tensor in program order that is in it. Records refer to storages by
// these tensors.
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

// Records the node's metadata and value. The caller adds the call: by setting `copy` and `inputs`,
// or with `record_call`.
NodeRecord record_node(const Graph& graph, const StorageOwners& owners, NodeId id);
// Adds the node's operator and arguments to the record.
void record_call(const Graph& graph, const Node& node, NodeRecord& record);

ArgumentRecords record_args(const Graph& graph, const Argument& list_or_dict);
// A tensor of a node, by the name of the node.
struct NamedTensor {
  std::string_view node;
  std::size_t tensor = 0;
};
// Records the node's value. Names the owner of a shared storage as `name_owner` says, if that is
// given and does not return an empty name.
ValueRecord record_value(const Graph& graph, const StorageOwners& owners, NodeId id,
                         const std::function<NamedTensor(StorageOwners::Owner)>& name_owner = {});
// Records the single tensor that a node returns, as a tensor in a new storage.
TensorRecord record_tensor(const Graph& graph, NodeId id);

}  // namespace jointer
