#pragma once

// Reads the call of a functional collective, with helpers for merging and splitting. Private to
// core/edit.

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

  // The arguments of the same call with another input.
  [[nodiscard]] ArgumentRecords args_with(std::string_view input_name) const;
};

// Reads an all_gather_into_tensor, reduce_scatter_tensor or all_reduce of one tensor. Error
// (usage): it is a different call.
Result<CollectiveCall> read_collective_call(const Graph& graph, NodeId start);

// The wait, which must be the only reader of the start. Error (usage): nothing reads it, or other
// nodes do.
Result<NodeId> only_wait(const Graph& graph, const Users& users, NodeId start);

bool is_dense(const Graph& graph, const Tensor& tensor);

// A dense tensor with the dtype and the device of the node's result. `of`: the node whose first
// tensor it views; empty: a new storage.
TensorRecord tensor_like(const Graph& graph, NodeId node, const std::vector<std::int64_t>& shape,
                         std::string_view of = {});

// Returns the name of a node with this node's tensor, dense and in that shape: the node itself, a
// view, or a view of a copy.
std::string as_dense(const Graph& graph, CallBuilder& calls, NodeId node,
                     const std::vector<std::int64_t>& shape, NodeId like, std::string_view before);

}  // namespace jointer
