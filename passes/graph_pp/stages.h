#pragma once

// Splits and combines the graphs of a pipeline stage, which the schedules of graph_trainer's
// pipeline parallelism run at different times. Each resulting graph has one part, except for the
// pair that partition_joint_graph returns.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// Called with a node, what happened to it (`action`), and why (`reason`).
using StageReasons =
    std::function<void(const Graph& graph, NodeId node, std::string action, std::string reason)>;

struct StageGraph {
  std::string role;  // forward, backward, backward_input, backward_weight, unshard, reduce_grad
  Graph graph;
};

// partition_joint_graph: returns a pair. `forward_outputs` is the number of outputs of the stage's
// forward; `backward_inputs` contains the names of placeholders that only the backward has. Error
// (usage): the graph is a pair or returns a constant other than None, an argument does not fit the
// graph, or the forward depends on or writes to an input of the backward.
Result<Graph> partition_joint_graph(const Graph& joint, std::size_t forward_outputs,
                                    const std::vector<std::string>& backward_inputs,
                                    const StageReasons& reasons);

// split_di_dw_graph: returns backward_input and backward_weight, split from a backward graph or
// from a pair's backward. Returns an empty list if the backward computes no gradients of inputs.
// `parameter_gradients` is the number of outputs that are gradients of parameters; these come
// first. Error (usage): there is no backward, it has fewer outputs, or a tuple would be passed
// between the graphs.
Result<std::vector<StageGraph>> split_di_dw_graph(const Graph& graph,
                                                  std::size_t parameter_gradients,
                                                  const StageReasons& reasons);

// split_forward_fsdp_collectives: returns unshard and forward, or an empty list if no parameter is
// gathered. `parameters` contains the placeholders that are parameters. Error (usage): there is
// no forward, a parameter is gathered several times, or something other than its wait reads a
// gather.
Result<std::vector<StageGraph>> split_forward_fsdp_collectives(
    const Graph& graph, const std::vector<NodeId>& parameters, const StageReasons& reasons);

// split_backward_fsdp_collectives: returns backward and reduce_grad, or an empty list if no
// gradient is reduced. Error (usage): there is no backward, or it has fewer outputs than
// `parameter_gradients`.
Result<std::vector<StageGraph>> split_backward_fsdp_collectives(const Graph& graph,
                                                                std::size_t parameter_gradients,
                                                                const StageReasons& reasons);

// multiplex_fw_bw_graph: returns a graph that runs the backward of one microbatch and then the
// forward of another. Error (usage): the graph is not a pair, its forward has no inputs, a half
// returns a constant other than None, or the backward has different Triton kernels.
Result<Graph> multiplex_fw_bw_graph(const Graph& pair, const StageReasons& reasons);

}  // namespace jointer
