// Estimates the time of a call that runs as one kernel.
//
// A call with FLOPs is attention or a matrix product. The rows and columns of a product are the
// last two dimensions of its result; k follows from its FLOPs. A call without FLOPs is a loop over
// the bytes that node_traffic counts:
//   - inputs of an element-wise operator or a copy are strided if the result's contiguous dimension
//     is not theirs, and then move whole sectors if none of their dimensions is contiguous;
//   - a lookup gathers, and a write or an addition at positions scatters;
//   - a reduction is along rows if it reduces the last dimension, as norms and softmaxes do;
//   - the gradient of a norm also reads its inputs a second time, to reduce them along columns.
//
// Cost: linear in a node's inputs, outputs and dimensions. Source: kernel_rules.cpp.
// Deviations: an operator that torch runs as several kernels counts as one, except the gradient of
// a norm. The library that computes a product is not asked for its tiles.

#include "core/cost/kernel_estimator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/base/checked.h"
#include "core/base/is_one_of.h"
#include "core/cost/kernel_rules.h"
#include "core/cost/node_flops.h"
#include "core/cost/traffic.h"

namespace jointer {
namespace {

using LoopKind = LoopWork::Kind;

bool scatters(std::string_view packet) {
  static constexpr std::array<std::string_view, 9> kPackets{"aten.embedding_dense_backward",
                                                            "aten.index_put",
                                                            "aten.index_put_",
                                                            "aten._unsafe_index_put",
                                                            "aten.index_add",
                                                            "aten.index_add_",
                                                            "aten.scatter_add",
                                                            "aten.scatter",
                                                            "aten.scatter_reduce"};
  return is_one_of(packet, kPackets);
}

bool copies(std::string_view packet) {
  static constexpr std::array<std::string_view, 6> kPackets{
      "aten.clone", "aten._to_copy", "aten.copy", "aten.copy_", "aten.cat", "aten.reshape"};
  return is_one_of(packet, kPackets);
}

bool is_gradient_of_norm(std::string_view packet) {
  static constexpr std::array<std::string_view, 3> kPackets{"aten._fused_rms_norm_backward",
                                                            "aten.native_layer_norm_backward",
                                                            "aten.native_batch_norm_backward"};
  return is_one_of(packet, kPackets);
}

bool is_along_rows(std::string_view packet) {
  return packet.find("norm") != std::string_view::npos ||
         packet.find("softmax") != std::string_view::npos;
}

bool is_product_of_attention(const OperatorInfo& op) {
  return op.packet().find("attention") != std::string_view::npos ||
         op.has(OperatorTag::higher_order);
}

double bytes_of(const Graph& graph, const Tensor& t) {
  return static_cast<double>(graph.numel(t)) * static_cast<double>(item_size(t.dtype));
}

// The dimension along which elements lie side by side; -1 if there is none. Without strides, it is
// the last one.
int contiguous_dimension(const Graph& graph, const Tensor& t) {
  if (!t.has(Tensor::has_stride)) return static_cast<int>(t.rank) - 1;
  const auto shape = graph.shape(t), stride = graph.stride(t);
  for (std::size_t i = shape.size(); i-- > 0;)
    if (shape[i].value > 1 && stride[i].value == 1) return static_cast<int>(i);
  return -1;
}

// How an input is accessed by threads that go along the contiguous dimension of the result, and the
// bytes that this moves.
std::pair<AccessPattern, double> access_of(const Graph& graph, const Tensor& input,
                                           const Tensor& result, const DeviceDescription& device) {
  const double bytes = bytes_of(graph, input);
  const int along = contiguous_dimension(graph, result);
  const int own = along - static_cast<int>(result.rank) + static_cast<int>(input.rank);
  if (along < 0 || own < 0 || !input.has(Tensor::has_stride))
    return {AccessPattern::coalesced, bytes};
  const auto at = static_cast<std::size_t>(own);
  const std::int64_t stride = graph.stride(input)[at].value;
  const bool has_other_size =
      graph.shape(input)[at].value != graph.shape(result)[static_cast<std::size_t>(along)].value;
  if (stride <= 1 || has_other_size) return {AccessPattern::coalesced, bytes};
  if (contiguous_dimension(graph, input) >= 0) return {AccessPattern::strided, bytes};
  return {AccessPattern::strided, sector_traffic(device, bytes, item_size(input.dtype), stride)};
}

// True if the call reduces the last dimension of its input, or all.
bool reduces_rows(const Graph& graph, const Node& node) {
  const Argument* dims = graph.argument(node, "dim");
  const auto inputs = graph.inputs(node);
  const Tensor* input = inputs.empty() ? nullptr : graph.single_tensor(graph.node(inputs.front()));
  if (dims == nullptr || input == nullptr) return true;
  const auto is_last = [&](const Argument& dim) {
    return dim.kind == Argument::Kind::integer &&
           (dim.integer == -1 || dim.integer == static_cast<std::int64_t>(input->rank) - 1);
  };
  if (dims->kind == Argument::Kind::integer) return is_last(*dims);
  const auto children = graph.children(*dims);
  return children.empty() || std::ranges::any_of(children, is_last);
}

LoopKind kind_of_loop(const Graph& graph, const Node& node, const OperatorInfo& op) {
  if (is_along_rows(op.packet())) return LoopKind::row_reduction;
  if (op.has(OperatorTag::reduction))
    return reduces_rows(graph, node) ? LoopKind::row_reduction : LoopKind::column_reduction;
  if (op.packet() != "aten._to_copy") return LoopKind::element_wise;
  const auto inputs = graph.inputs(node);
  const Tensor* from = inputs.empty() ? nullptr : graph.single_tensor(graph.node(inputs.front()));
  const Tensor* to = graph.single_tensor(node);
  const bool widens =
      from != nullptr && to != nullptr && item_size(to->dtype) > item_size(from->dtype);
  return widens ? LoopKind::widening : LoopKind::element_wise;
}

LoopWork loop_of(const Graph& graph, const Node& node, double traffic,
                 const DeviceDescription& device) {
  const OperatorInfo& op = graph.op(node);
  const std::string_view packet = op.packet();
  LoopWork work{.kind = kind_of_loop(graph, node, op)};
  const auto results = graph.tensors(node);
  if (is_special_function(packet) && !results.empty())
    work.special_functions = static_cast<double>(graph.numel(results.front()));
  if (is_lookup(packet) || scatters(packet)) {
    work.add(is_lookup(packet) ? AccessPattern::gathered : AccessPattern::scattered, traffic);
    return work;
  }
  double rest = traffic;
  if (!results.empty() && (op.has(OperatorTag::pointwise) || copies(packet)))
    for (const NodeId input : graph.inputs(node)) {
      const Tensor* t = graph.single_tensor(graph.node(input));
      if (t == nullptr) continue;
      const auto [pattern, moved] = access_of(graph, *t, results.front(), device);
      if (pattern == AccessPattern::coalesced) continue;
      work.add(pattern, moved);
      rest -= bytes_of(graph, *t);
    }
  work.add(AccessPattern::coalesced, std::max(rest, 0.0));
  return work;
}

KernelDuration time_of_loop(const Graph& graph, const Node& node, double traffic,
                            const DeviceDescription& device) {
  KernelDuration time = loop_time(device, loop_of(graph, node, traffic, device));
  if (!is_gradient_of_norm(graph.op(node).packet())) return time;
  LoopWork again{.kind = LoopKind::column_reduction};
  double first = 0;
  const auto results = graph.tensors(node);
  if (!results.empty()) first = bytes_of(graph, results.front());
  again.add(AccessPattern::coalesced, std::max(traffic - first, 0.0));
  time.ns += loop_time(device, again).ns;
  return time;
}

KernelDuration time_of_attention(const Graph& graph, const Node& node, double flops, double bytes,
                                 const DeviceDescription& device) {
  const std::string_view packet = graph.op(node).packet();
  AttentionWork work{.flops = computed_flops(graph, node, saturating_round(flops)),
                     .is_backward = packet.find("backward") != std::string_view::npos,
                     .is_cudnn = packet.find("cudnn") != std::string_view::npos,
                     .bytes = bytes,
                     .dtype = arithmetic_type(graph, node)};
  work.is_causal = work.flops < flops;
  // [batch, tokens, heads, size] for these operators, [batch, heads, tokens, size] for all others.
  const std::size_t tokens = packet.starts_with("aten._flash_attention_") ||
                                     packet.starts_with("aten._efficient_attention_")
                                 ? 1
                                 : 2;
  for (const NodeId input : graph.inputs(node)) {
    const Tensor* t = graph.single_tensor(graph.node(input));
    if (t == nullptr || t->rank != 4) continue;
    work.tokens = graph.shape(*t)[tokens].value;
    work.head_size = graph.shape(*t)[3].value;
    break;
  }
  return attention_time(device, work);
}

// Describes the call as a matrix product with the same result and as many FLOPs.
ProductWork product_of(const Graph& graph, const Node& node, double flops, double bytes) {
  ProductWork work{.bytes = bytes, .dtype = arithmetic_type(graph, node)};
  const auto results = graph.tensors(node);
  if (results.empty()) return work;
  const auto shape = graph.shape(results.front());
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t size = std::max<std::int64_t>(shape[i].value, 1);
    if (i + 1 == shape.size())
      work.columns = size;
    else if (i + 2 == shape.size())
      work.rows = size;
    else
      work.batch = saturating_mul(work.batch, size);
  }
  const double each = 2 * static_cast<double>(work.batch) * static_cast<double>(work.rows) *
                      static_cast<double>(work.columns);
  work.k = std::max<std::int64_t>(saturating_round(flops / each), 1);
  return work;
}

}  // namespace

bool is_special_function(std::string_view packet) {
  static constexpr std::array<std::string_view, 25> kPackets{"aten.exp",
                                                             "aten.exp2",
                                                             "aten.expm1",
                                                             "aten.log",
                                                             "aten.log2",
                                                             "aten.log1p",
                                                             "aten.sigmoid",
                                                             "aten.silu",
                                                             "aten.silu_backward",
                                                             "aten.gelu",
                                                             "aten.tanh",
                                                             "aten.gelu_backward",
                                                             "aten.sin",
                                                             "aten.cos",
                                                             "aten.erf",
                                                             "aten.softplus",
                                                             "aten.mish",
                                                             "aten._softmax",
                                                             "aten.elu",
                                                             "aten._log_softmax",
                                                             "aten.logsumexp",
                                                             "aten.logit",
                                                             "aten.log10",
                                                             "aten.softplus_backward",
                                                             "aten._log_softmax_backward_data"};
  return is_one_of(packet, kPackets);
}

std::string KernelEstimator::description() const {
  const std::string rest = rest_.description();
  return "kernels" + rest.substr(std::min(rest.find(','), rest.size()));
}

NodeCost KernelEstimator::estimate(const Graph& graph, NodeId id) const {
  NodeCost cost = rest_.estimate(graph, id);
  const Node& node = graph.node(id);
  if (node.kind != NodeKind::call || graph.is_asynchronous(node)) return cost;
  const bool is_on_cpu = device().id == "cpu";
  const Traffic traffic = node_traffic(graph, node);
  if (traffic.kind != Traffic::Kind::kernel || graph.op(node).is_fused_matmul) {
    if (!is_on_cpu || graph.is_wait(node) || cost.lane != NodeCost::Lane::none) return cost;
    return {.lane = NodeCost::Lane::compute, .limit = NodeCost::Limit::launch, .ns = cost.host_ns};
  }
  const auto bytes = static_cast<double>(traffic.bytes);
  const auto flops = static_cast<double>(node_flops(graph, node).total);
  const KernelDuration time = flops == 0 ? time_of_loop(graph, node, bytes, device())
                              : is_product_of_attention(graph.op(node))
                                  ? time_of_attention(graph, node, flops, bytes, device())
                                  : product_time(device(), product_of(graph, node, flops, bytes));
  // At most a year, so that a sum of several fits in 64 bits.
  constexpr double kYearNs = 365.0 * 24 * 3600 * 1e9;
  cost.ns = saturating_round(std::min(time.ns, kYearNs));
  cost.limit = time.limit;
  if (is_on_cpu) cost.host_ns = 0;
  return cost;
}

}  // namespace jointer
