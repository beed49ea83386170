#pragma once

// What a call of a functional collective says, and what merging and splitting need of its
// surroundings. Private to core/edit.

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

  // The same call with another input.
  [[nodiscard]] OrderedJson args_with(std::string_view input_name) const;
};

// all_gather_into_tensor, reduce_scatter_tensor or all_reduce of one tensor. Error (usage): it is
// none of them.
Result<CollectiveCall> read_collective_call(const Graph& graph, NodeId start);

// The one node that reads the start, a wait. Error (usage): another reads it, or none.
Result<NodeId> only_wait(const Graph& graph, const Users& users, NodeId start);

bool is_dense(const Graph& graph, const Tensor& tensor);

// A dense tensor of the dtype and on the device of what the node returns.
TensorRecord tensor_like(const Graph& graph, NodeId node, std::vector<std::int64_t> shape,
                         std::string of = {});

// The node's tensor, dense, in that shape: the node itself, a view, or a copy and a view of it.
std::string as_dense(const Graph& graph, CallBuilder& calls, NodeId node,
                     const std::vector<std::int64_t>& shape, NodeId like, std::string_view before);

}  // namespace jointer
