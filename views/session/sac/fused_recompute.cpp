// Computes the cost of a recomputation that is fused into the kernels that read its result.
//
// Terms
//   chain    the calls that compute a tensor from values that the plan saves or offloads, and from
//            inputs of the graph: its sources
//   readers  the predicted kernels of the backward that read the tensor; views pass a read on
//
// The recomputation fuses if every call of the chain is computed element by element, in loops, or
// is a view, and every reader consists of loops. Then the chain launches nothing and writes
// nothing. It costs the time to read those sources that a reader does not read anyway, at the
// bandwidth that the roofline model assumes, once for each reader.
//
// Cost: linear in the nodes of chains and readers. A chain has at most kMaxChain calls, since
// Inductor fuses at most 64 operations into one kernel.
//
// Source: `is_fusible` in torch._functorch.partitioners. The min-cut partitioner assumes that a
// recomputation that fuses into its users is free. Deviations: reads of sources count, and the
// users are the predicted kernels, not all operators that could fuse.

#include "views/session/sac/fused_recompute.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/checked.h"
#include "core/base/index.h"

namespace jointer::views {
namespace {

constexpr std::size_t kMaxChain = 64;

bool has_loops(const kernels::Kernel& kernel) {
  using Kind = kernels::Kernel::Kind;
  return kernel.kind == Kind::pointwise || kernel.kind == Kind::reduction ||
         kernel.kind == Kind::mix_order_reduction;
}

// By node: true if an op computes it element by element. A reduction op does so for all of its
// nodes but the last one, which is the reduction itself.
std::vector<bool> elementwise_nodes(const SnapshotKernels& kernels) {
  std::vector<bool> is_elementwise(kernels.snapshot()->graph.node_count());
  for (const CompiledPart& part : kernels.parts())
    for (const kernels::Op& op : part.ir.ops) {
      const bool is_reduction = op.kind == kernels::Op::Kind::reduction;
      if (!is_reduction && op.kind != kernels::Op::Kind::pointwise) continue;
      const std::size_t count = op.nodes.size() - (is_reduction && !op.nodes.empty() ? 1 : 0);
      for (std::size_t i = 0; i < count; ++i) is_elementwise[op.nodes[i].index()] = true;
    }
  return is_elementwise;
}

class FusedRecompute {
 public:
  FusedRecompute(const SacState& state, const SnapshotKernels& kernels)
      : state_(state),
        kernels_(kernels),
        snapshot_(*kernels.snapshot()),
        graph_(snapshot_.graph),
        is_elementwise_(elementwise_nodes(kernels)) {}

  std::optional<std::int64_t> cost_of(const SacTensor& tensor) {
    sources_.clear();
    readers_.clear();
    chain_.clear();
    if (graph_.node(tensor.node).kind != NodeKind::call) return std::nullopt;
    if (!add_chain(tensor.node) || !add_readers(tensor.node) || readers_.empty())
      return std::nullopt;
    std::int64_t bytes = 0;
    for (const std::size_t reader : readers_)
      for (const NodeId source : sources_)
        if (!inputs_of(reader).contains(source))
          bytes = saturating_add(bytes, graph_.output_bytes(graph_.node(source)));
    const DeviceDescription& device = snapshot_.analysis.device;
    const double bytes_per_ns = device.memory_gbps * device.efficiency.memory;
    if (bytes_per_ns <= 0) return std::nullopt;
    return saturating_round(static_cast<double>(bytes) / bytes_per_ns);
  }

 private:
  [[nodiscard]] bool is_view(const Node& node) const {
    return node.kind == NodeKind::call && (graph_.op(node).is_view || graph_.op(node).is_getitem);
  }

  // Returns true if the backward has the value without recomputing anything.
  [[nodiscard]] bool is_source(NodeId id) const {
    if (graph_.node(id).kind != NodeKind::call) return true;
    const SacTensor* tensor = state_.tensor_of(id);
    return tensor != nullptr && tensor->action != PlanAction::recompute;
  }

  // Adds the call, and the calls and sources that it is computed from. Returns false if they do not
  // fuse.
  bool add_chain(NodeId id) {
    if (!chain_.insert(id).second) return true;
    if (chain_.size() > kMaxChain) return false;
    if (!is_elementwise_[id.index()] && !is_view(graph_.node(id))) return false;
    return std::ranges::all_of(graph_.inputs(id), [this](NodeId input) {
      if (!is_source(input)) return add_chain(input);
      sources_.insert(input);
      return true;
    });
  }

  // Adds the kernels that read the value in the backward. Returns false if it cannot be fused into
  // one of them.
  bool add_readers(NodeId id) {
    return std::ranges::all_of(snapshot_.users.of(id), [this](NodeId user) {
      const Node& node = graph_.node(user);
      if (node.kind != NodeKind::call) return true;
      if (is_view(node)) return add_readers(user);
      if (node.phase == Phase::forward) return true;
      const std::int32_t row = kernels_.row_of(user);
      if (row < 0 || !has_loops(kernels_.kernel(as_index(row)))) return false;
      readers_.insert(as_index(row));
      return true;
    });
  }

  // The values that the nodes of a kernel read.
  const std::set<NodeId>& inputs_of(std::size_t row) {
    const auto [found, is_new] = inputs_.try_emplace(row);
    if (is_new)
      for (const NodeId node : kernels_.kernel(row).nodes)
        for (const NodeId input : graph_.inputs(node)) found->second.insert(input);
    return found->second;
  }

  const SacState& state_;
  const SnapshotKernels& kernels_;
  const Snapshot& snapshot_;
  const Graph& graph_;
  std::vector<bool> is_elementwise_;
  std::map<std::size_t, std::set<NodeId>> inputs_;  // by kernel
  // For the tensor whose cost is being computed.
  std::set<NodeId> chain_, sources_;
  std::set<std::size_t> readers_;
};

}  // namespace

FusedCosts fused_recompute_ns(const SacState& state, const SnapshotKernels& kernels) {
  FusedCosts costs(state.tensors.size());
  if (state.snapshot != kernels.snapshot()) return costs;
  FusedRecompute fused(state, kernels);
  for (std::size_t i = 0; i < costs.size(); ++i) costs[i] = fused.cost_of(state.tensors[i]);
  return costs;
}

}  // namespace jointer::views
