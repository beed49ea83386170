#include "core/cost/simple.h"

#include <algorithm>

#include "core/base/checked.h"
#include "core/cost/collective_model.h"
#include "core/cost/fused_matmul.h"
#include "core/cost/node_flops.h"
#include "core/graph/group_argument.h"
#include "core/graph/torch_version.h"
#include "core/ops/flops.h"

namespace jointer {
namespace {

std::int64_t ns_of_ms(double milliseconds) {
  return saturating_round(std::min(milliseconds, 1e12) * 1e6);
}

// True if every output shares the storage of an input.
bool returns_inputs(const Graph& graph, const Node& node) {
  for (const Tensor& out : graph.tensors(node)) {
    bool found = false;
    for (const NodeId input : graph.inputs(node))
      for (const Tensor& in : graph.tensors(input)) found = found || in.storage == out.storage;
    if (!found) return false;
  }
  return true;
}

std::int64_t first_argument_bytes(const Graph& graph, const Node& node) {
  std::int64_t sum = 0;
  const auto add = [&](const auto& self, const Argument& a) -> void {
    if (a.kind == Argument::Kind::node)
      sum = saturating_add(sum, graph.output_bytes(graph.node(a.node())));
    for (const Argument& child : graph.children(a)) self(self, child);
  };
  if (const auto args = graph.args(node); !args.empty()) add(add, args.front());
  return sum;
}

}  // namespace

std::string SimpleEstimator::description() const {
  return fmt::format("simple: {:g} us + bytes / {:g} GB/s, {:g} TFLOP/s, {:g} GB/s", costs_.coll_us,
                     costs_.coll_gbs, costs_.tflops, costs_.mem_gbs);
}

std::int64_t SimpleEstimator::latency_ns(const Graph& graph, NodeId collective) const {
  const std::int64_t ranks = estimated_group_size(graph, graph.node(collective));
  return ranks > 1 ? ns_of_ms(costs_.coll_us / 1e3) : 0;
}

NodeCost SimpleEstimator::estimate(const Graph& graph, NodeId id) const {
  const Node& node = graph.node(id);
  NodeCost cost{.limit = NodeCost::Limit::given};
  if (node.kind != NodeKind::call || node.tensor_count == 0) return {};
  const OperatorInfo& op = graph.op(node);
  if (op.is_wait || op.is_getitem) return {};
  if (graph.is_collective_start(node)) {
    const std::int64_t bytes =
        std::max(first_argument_bytes(graph, node), graph.output_bytes(node));
    cost.lane = NodeCost::Lane::collective;
    if (estimated_group_size(graph, node) > 1)
      cost.ns =
          ns_of_ms(costs_.coll_us / 1e3 + static_cast<double>(bytes) / (costs_.coll_gbs * 1e6));
    return cost;
  }
  if (graph.is_transfer(node)) return transfer_costs().of(graph.output_bytes(node));
  cost.lane = NodeCost::Lane::compute;
  if (const auto fused = read_fused_matmul(graph, node)) {
    const double compute_ms = static_cast<double>(fused->flops) / (costs_.tflops * 1e9);
    const double collective_ms =
        costs_.coll_us / 1e3 + static_cast<double>(fused->moved_bytes) / (costs_.coll_gbs * 1e6);
    cost.ns = ns_of_ms(pipelined_time(compute_ms, collective_ms, fused->ranks));
    return cost;
  }
  if (is_in_torch_registry(op.packet(), torch_version_of(graph))) {
    cost.ns = ns_of_ms(static_cast<double>(node_flops(graph, node).torch_registry) /
                       (costs_.tflops * 1e9));
    return cost;
  }
  if (!op.mutates && returns_inputs(graph, node)) return {};
  const std::int64_t bytes = saturating_add(input_bytes(graph, node), graph.output_bytes(node));
  cost.ns = ns_of_ms(static_cast<double>(bytes) / (costs_.mem_gbs * 1e6));
  return cost;
}

}  // namespace jointer
