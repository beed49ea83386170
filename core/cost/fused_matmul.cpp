// Estimates the duration of a collective fused with its matmuls.
//
// An all-gather fetches the other ranks' rows one rank at a time and multiplies the rows that have
// arrived. A reduce-scatter multiplies the rows of one rank at a time and sends the finished rows.
// In both cases, each of n ranks multiplies n parts, each in time c, and moves n-1 parts, each in
// time t. All matmuls but one overlap with a move:
//   c + (n - 1) max(c, t)
// A reduce-scatter then adds its parts, which reads n parts and writes one. Only the roofline
// counts this (roofline.cpp).
//
// Cost: linear in the number of matmuls. Source: _pipelined_multi_all_gather_and_consume and
// _pipelined_produce_and_all2all in torch/distributed/_symmetric_memory/__init__.py (torch 2.15).
// Deviations: barriers are left out, as are copies into the workspace, which overlap with the first
// part. The workspace is not a storage of the graph, because torch keeps it for the group.

#include "core/cost/fused_matmul.h"

#include <algorithm>
#include <string_view>

#include "core/base/checked.h"

namespace jointer {
namespace {

const Tensor* tensor_of(const Graph& graph, const Argument* argument) {
  if (argument == nullptr || argument->kind != Argument::Kind::node) return nullptr;
  return graph.single_tensor(graph.node(argument->node()));
}

// The number of rows of a left operand: the product of all dimensions except the last.
std::int64_t rows_of(const Graph& graph, const Tensor& t) {
  std::int64_t rows = 1;
  const auto shape = graph.shape(t);
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) rows = saturating_mul(rows, shape[i].value);
  return rows;
}

// Reads k and the number of columns from a right operand of shape [k, columns].
bool read_right(const Graph& graph, const Tensor* b, FusedMatmul::Product& product) {
  if (b == nullptr || b->rank != 2) return false;
  product.k = graph.shape(*b)[0].value;
  product.columns = graph.shape(*b)[1].value;
  return product.k > 0;
}

void add(FusedMatmul& fused, const FusedMatmul::Product& product) {
  const std::int64_t work =
      saturating_mul(saturating_mul(2, product.rows), saturating_mul(product.k, product.columns));
  fused.flops = saturating_add(fused.flops, work);
  fused.products.push_back(product);
}

std::optional<FusedMatmul> read_gather(const Graph& graph, const Node& node, const Tensor& a) {
  const Argument* all = graph.argument(node, "Bs");
  const auto tensors = graph.tensors(node);
  if (all == nullptr || graph.children(*all).empty() ||
      tensors.size() < graph.children(*all).size())
    return {};
  FusedMatmul fused{.collective = CollectiveKind::all_gather, .dtype = a.dtype};
  const auto results = tensors.last(graph.children(*all).size());
  std::size_t at = 0;
  for (const Argument& each : graph.children(*all)) {
    FusedMatmul::Product product;
    if (!read_right(graph, tensor_of(graph, &each), product)) return {};
    product.rows = rows_of(graph, results[at++]);
    add(fused, product);
  }
  const FusedMatmul::Product& first = fused.products.front();
  const std::int64_t whole = saturating_mul(first.rows, first.k);
  fused.ranks = whole / std::max<std::int64_t>(graph.numel(a), 1);
  fused.moved_bytes = saturating_mul(whole, item_size(a.dtype));
  return fused;
}

std::optional<FusedMatmul> read_scatter(const Graph& graph, const Node& node, const Tensor& a) {
  const Tensor* result = graph.single_tensor(node);
  FusedMatmul fused{.collective = CollectiveKind::reduce_scatter, .dtype = a.dtype};
  FusedMatmul::Product product;
  if (result == nullptr || !read_right(graph, tensor_of(graph, graph.argument(node, "B")), product))
    return {};
  product.rows = graph.numel(a) / product.k;
  add(fused, product);
  const std::int64_t whole = saturating_mul(product.rows, product.columns);
  fused.ranks = whole / std::max<std::int64_t>(graph.numel(*result), 1);
  fused.moved_bytes = saturating_mul(whole, item_size(result->dtype));
  return fused;
}

}  // namespace

std::optional<FusedMatmul> read_fused_matmul(const Graph& graph, const Node& node) {
  if (node.kind != NodeKind::call) return {};
  if (!graph.op(node).is_fused_matmul) return {};
  const Tensor* a = tensor_of(graph, graph.argument(node, "A"));
  if (a == nullptr || a->rank == 0) return {};
  return graph.target(node).find("all_gather") != std::string_view::npos
             ? read_gather(graph, node, *a)
             : read_scatter(graph, node, *a);
}

GroupPlacement place_fused(const Graph& graph, const Node& node, const FusedMatmul& fused,
                           std::int64_t gpus_per_node) {
  if (node.group && !graph.group(node.group).ranks.empty())
    return place_group(graph, node, gpus_per_node);
  return {.ranks = fused.ranks, .nodes = 1, .ranks_per_node = fused.ranks};
}

double pipelined_time(double compute, double collective, std::int64_t ranks) {
  if (ranks < 2) return compute;
  const auto n = static_cast<double>(ranks);
  const double part = compute / n;
  return part + (n - 1) * std::max(part, collective / (n - 1));
}

}  // namespace jointer
