// A bucket is a collective whose input comes, through views, copies and casts, from a call that
// reads a list of tensors (aten.cat, bucketing._pre_bucket_reduce_scatter). Its members are the
// nodes from which these tensors come, again through views, copies and casts.
//
// Cost: linear in the number of nodes, plus the lengths of the chains from buckets to members.

#include "core/bench/sums_of_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "core/base/is_one_of.h"
#include "core/graph/argument_nodes.h"
#include "core/graph/group_argument.h"
#include "core/ops/exact_reductions.h"

namespace jointer {
namespace {

// The list of at least two nodes that a call reads; std::nullopt if there is none.
std::optional<std::vector<NodeId>> list_of_tensors(const Graph& graph, const Node& call) {
  for (const Argument& argument : graph.args(call)) {
    if (!argument.has_children()) continue;
    std::vector<NodeId> nodes;
    append_nodes(graph, argument, nodes);
    if (nodes.size() > 1) return nodes;
  }
  return std::nullopt;
}

constexpr std::array<std::string_view, 3> kCopies{"aten.clone", "aten._to_copy",
                                                  "prims.convert_element_type"};

// Follows views, copies and casts from `id` towards the start of the graph.
NodeId source_of(const Graph& graph, NodeId id) {
  for (;;) {
    const Node& node = graph.node(id);
    if (node.kind != NodeKind::call || graph.inputs(node).size() != 1) return id;
    const OperatorInfo& op = graph.op(node);
    if (!op.is_view && !op.is_getitem && !is_one_of(op.packet(), kCopies)) return id;
    id = graph.inputs(node).front();
  }
}

std::string member_text(const Graph& graph, NodeId id) {
  const Tensor* tensor = graph.single_tensor(graph.node(id));
  return fmt::format("{}[{}]", graph.name(source_of(graph, id)),
                     tensor != nullptr ? graph.numel(*tensor) : 0);
}

// The members of a bucket, such as " of a[4] b[4]"; empty if the input is not a bucket.
std::string members_text(const Graph& graph, NodeId input) {
  const NodeId source = source_of(graph, input);
  const Node& node = graph.node(source);
  if (node.kind != NodeKind::call) return {};
  const auto members = list_of_tensors(graph, node);
  if (!members) return {};
  std::string text = " of";
  for (const NodeId member : *members) text += " " + member_text(graph, member);
  return text;
}

}  // namespace

std::vector<std::string> sums_of_ranks(const Graph& graph) {
  constexpr std::int64_t kCommutes = 2;
  std::vector<std::string> sums;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!graph.is_collective_start(node) || graph.group_size(node) <= kCommutes) continue;
    const CollectiveKind kind = graph.op(node).collective;
    if (kind != CollectiveKind::all_reduce && kind != CollectiveKind::reduce_scatter) continue;
    const std::string_view reduction = text_argument(graph, node, "reduce_op");
    if (is_one_of(reduction, kExactReductions)) continue;
    std::string text =
        fmt::format("{} {} {}:", graph.target(node), reduction,
                    node.group ? graph.text(graph.group(node.group).name) : std::string_view());
    bool is_exact = true;  // sums of integers
    for (const NodeId input : graph.inputs(node)) {
      const Tensor* tensor = graph.single_tensor(graph.node(input));
      if (tensor == nullptr) continue;
      is_exact &= !is_floating(tensor->dtype) && !is_complex(tensor->dtype);
      text += fmt::format(" {}[{}]{}", to_string(tensor->dtype), graph.numel(*tensor),
                          members_text(graph, input));
    }
    if (!is_exact) sums.push_back(std::move(text));
  }
  std::ranges::sort(sums);
  sums.erase(std::unique(sums.begin(), sums.end()), sums.end());
  return sums;
}

}  // namespace jointer
