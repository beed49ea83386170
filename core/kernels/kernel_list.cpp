#include "core/kernels/kernel_list.h"

#include <array>
#include <utility>

namespace jointer::kernels {
namespace {

// The beginnings of Inductor's reasons, in torch 2.11 to 2.15. A longer beginning precedes a
// shorter one of the same text.
constexpr std::array kReasons{
    std::pair{std::string_view("node1 must go before node2"), Refusal::runs_before},
    std::pair{std::string_view("node1 is nop"), Refusal::is_nop},
    std::pair{std::string_view("node1 is extern"), Refusal::is_external},
    std::pair{std::string_view("node2 is extern"), Refusal::is_external},
    std::pair{std::string_view("device mismatch"), Refusal::other_device},
    std::pair{std::string_view("no shared data"), Refusal::no_shared_data},
    std::pair{std::string_view("exceeds max fusion"), Refusal::too_large},
    std::pair{std::string_view("Fusion will increase peak memory"), Refusal::peak_increases},
    std::pair{std::string_view("score_fusion_memory_threshold"), Refusal::too_few_shared_bytes},
    std::pair{std::string_view("Nodes are too far away"), Refusal::too_far_apart},
    std::pair{std::string_view("memory deps did not match"), Refusal::access_differs},
    std::pair{std::string_view("intermediate nodes between node1 & node2"), Refusal::op_between},
    std::pair{std::string_view("numel/rnumel mismatch (non-reduce)"), Refusal::pointwise_size},
    std::pair{std::string_view("numel/rnumel mismatch (reduce)"), Refusal::reduction_size},
    std::pair{std::string_view("nodes numel incompatibility"), Refusal::reduced_size},
    std::pair{std::string_view("nodes numel/rnumel incompatibility"), Refusal::loops_do_not_split},
    std::pair{std::string_view("Split scan cannot fuse"), Refusal::split_scan},
    std::pair{std::string_view("tiling mismatch"), Refusal::tiles_differ},
    std::pair{std::string_view("invalid tiling for reduction"), Refusal::tiles_differ},
    std::pair{std::string_view("foreach do not have same length"), Refusal::parts_differ},
    std::pair{std::string_view("a consumer depends on another producer"), Refusal::parts_differ},
    std::pair{std::string_view("candidate producer"), Refusal::parts_differ},
    std::pair{std::string_view("candidate consumer"), Refusal::parts_differ},
    std::pair{std::string_view("template epilogue not satisfied"), Refusal::beside_template},
    std::pair{std::string_view("sub-parent epilogue planning failed"), Refusal::computes_fraction},
    std::pair{std::string_view("will create cycle"), Refusal::would_cycle},
};

bool computes(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (node.kind != NodeKind::call) return false;
  const OperatorInfo& op = graph.op(node);
  return !op.is_view && !op.is_getitem && op.name != "aten._unsafe_view.default" &&
         op.name != "aten.reshape.default";
}

}  // namespace

std::vector<NodeId> computing_nodes(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::vector<NodeId> computing;
  for (const NodeId id : nodes)
    if (computes(graph, id)) computing.push_back(id);
  return computing;
}

KernelList list_of(const Graph& graph, const Kernels& predicted) {
  KernelList list;
  list.peak = predicted.peak;
  for (const Kernel& kernel : predicted.kernels)
    list.kernels.push_back({kernel.kind, computing_nodes(graph, kernel.nodes), kernel.bytes});
  for (const RefusedPair& pair : predicted.refused) {
    if (const auto both = predicted.kernels_of(pair))
      list.refused.push_back({both->first, both->second, std::string(to_sentence(pair.refusal))});
  }
  return list;
}

std::string rule_of_reason(std::string_view inductors_words) {
  for (const auto& [beginning, refusal] : kReasons)
    if (inductors_words.starts_with(beginning)) return std::string(to_sentence(refusal));
  // The sizes after a reason differ from pair to pair.
  const std::size_t sizes = inductors_words.find(" (");
  return std::string(inductors_words.substr(0, sizes));
}

}  // namespace jointer::kernels
