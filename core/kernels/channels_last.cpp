// Decides which tensors are stored with the channels innermost.
//
// Either all convolutions of a graph use this layout, or none. None does if
//  - the graph has 300 or more nodes per convolution;
//  - a convolution has groups of several channels;
//  - a convolution whose kernel is larger than 1 in the first spatial dimension writes at most half
//    as many channels as it reads; or
//  - all convolutions have at most 64 channels.
// Otherwise, each value from which a convolution is computed gets this layout, and so does each
// value that is computed directly from one that has it and precedes the last convolution. Results
// of aten.bmm never get it.
//
// Strides are not padded for convolutions, their gradients and scaled products, nor for values from
// which these are computed without a reduction or a tuple in between: padded values would have to
// be copied.
//
// Cost: linear.
// Source: torch/_inductor/graph.py (decide_layout_opt for training,
// find_nodes_prefer_channels_last, mark_nodes_dislike_padding).
// Deviation: convolutions on the CPU keep the program's layout.

#include "core/kernels/channels_last.h"

#include <algorithm>

#include "core/kernels/slot.h"

namespace jointer::kernels {
namespace {

bool is_last_better(const FxGraph& graph, TorchVersion version) {
  constexpr std::size_t kNodesPerConvolution = 300;
  constexpr std::int64_t kFewChannels = 64;
  std::size_t count = 0;
  bool all_are_small = true;
  for (const FxNode& node : graph.nodes) {
    const bool is_gradient = node.kind == FxKind::convolution_gradient;
    if (node.kind != FxKind::convolution && (!is_gradient || version <= TorchVersion{2, 11}))
      continue;
    ++count;
    const FxTensor& weight = graph.nodes[slot(node.inputs[is_gradient ? 2 : 1])].result();
    if (!weight.is_on_gpu) return false;
    const std::int64_t out = weight.shape[0], in = weight.shape[1];
    if (node.numbers[0] > 1 && in > 1) return false;
    if (out * 2 <= in && weight.shape[2] > 1) return false;
    all_are_small = all_are_small && out <= kFewChannels && in <= kFewChannels;
  }
  return count > 0 && !all_are_small && graph.nodes.size() < kNodesPerConvolution * count;
}

}  // namespace

Sizes channels_last_strides(const Sizes& shape) {
  Sizes stride(shape.size(), 1);
  std::int64_t step = shape[1];
  for (std::size_t i = shape.size(); i-- > 2;) {
    stride[i] = step;
    step *= shape[i];
  }
  stride[0] = step;
  return stride;
}

bool is_channels_last(const Sizes& shape, const Sizes& stride) {
  if ((shape.size() != 4 && shape.size() != 5) || stride.size() != shape.size() || shape[1] == 1)
    return false;
  const Sizes last = channels_last_strides(shape);
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != 1 && stride[i] != last[i]) return false;
  return true;
}

std::vector<bool> nodes_without_padding(const FxGraph& graph) {
  std::vector<bool> result;
  const auto is_passed = [](const FxNode& node) {
    switch (node.kind) {
      case FxKind::placeholder:
      case FxKind::constant:
      case FxKind::getitem:
      case FxKind::reduce:
      case FxKind::mean:
      case FxKind::moments:
      case FxKind::arg_with_value:
        return false;
      case FxKind::scatter:
      case FxKind::scatter_in_place:
        return node.op.empty();  // scatter_reduce
      default:
        return true;
    }
  };
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const FxNode& node = graph.nodes[i];
    const bool starts = node.kind == FxKind::convolution ||
                        node.kind == FxKind::convolution_gradient ||
                        node.target.starts_with("aten._scaled_mm");
    if (starts) {
      result.resize(graph.nodes.size(), false);
      result[i] = true;
    }
    if (result.empty() || !result[i]) continue;
    for (const FxId input : node.inputs)
      if (input >= 0 && is_passed(graph.nodes[slot(input)])) result[slot(input)] = true;
  }
  return result;
}

std::vector<bool> nodes_with_channels_last(const FxGraph& graph, TorchVersion version) {
  if (!is_last_better(graph, version)) return {};
  std::vector<bool> result(graph.nodes.size(), false);
  std::size_t last = graph.nodes.size();
  const auto may_have_it = [](const FxNode& node) { return node.target != "aten.bmm.default"; };
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const FxNode& node = graph.nodes[i];
    if (node.kind == FxKind::convolution) {
      result[i] = true;
      if (last == graph.nodes.size()) last = i;
    } else if (may_have_it(node)) {
      result[i] = std::ranges::any_of(node.users, [&](FxId user) { return result[slot(user)]; });
    }
  }
  for (std::size_t i = 0; i < last; ++i)
    for (const FxId user : graph.nodes[i].users)
      if (result[i] && may_have_it(graph.nodes[slot(user)])) result[slot(user)] = true;
  return result;
}

}  // namespace jointer::kernels
