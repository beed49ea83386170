#pragma once

// Reads the arguments of a functional collective, and helps to merge and split collectives. Private
// to core/edit.

#include <string>

#include "core/edit/call_builder.h"
#include "core/graph/users.h"

namespace jointer {

struct CollectiveCall {
  NodeId start, input;
  PartId part;
  CollectiveKind kind = CollectiveKind::none;
  std::string target, group_name, reduce_op;  // reduce_op is empty for an all-gather
  std::int64_t group_size = 1;

  // Returns the arguments of this call, but with a different input.
  [[nodiscard]] ArgumentRecords args_with(std::string_view input_name) const;
};

// Reads an all_gather_into_tensor, reduce_scatter_tensor or all_reduce of one tensor. Error
// (usage): `start` is not such a call, or lacks a process group or a tensor argument.
Result<CollectiveCall> read_collective_call(const Graph& graph, NodeId start);

// Returns the only reader of the start, which must be a wait. Error (usage): the start has no
// readers, several, or one that is not a wait.
Result<NodeId> only_wait(const Graph& graph, const Users& users, NodeId start);

bool is_dense(const Graph& graph, const Tensor& tensor);

// The sizes of the tensor that a node returns.
std::vector<std::int64_t> sizes_of(const Graph& graph, NodeId node);

// Returns the record of a dense tensor with the dtype and the device of the node's result. The
// tensor is in the storage of the first tensor of the node named `of` or, if `of` is empty, in a
// new storage.
TensorRecord tensor_like(const Graph& graph, NodeId node, const std::vector<std::int64_t>& shape,
                         std::string_view of = {});

// Returns the name of a node that returns the elements of `node` as a dense tensor of shape
// `shape`: the node itself, a view of it, a copy, or a view of a copy. Adds the calls that are
// needed.
std::string as_dense(const Graph& graph, CallBuilder& calls, NodeId node,
                     const std::vector<std::int64_t>& shape, NodeId like, std::string_view before);

}  // namespace jointer
