#pragma once

// Decides which tensors have the channels innermost in memory because of convolutions, and which
// have strides that are not padded.

#include <vector>

#include "core/base/torch_version.h"
#include "core/kernels/fx_graph.h"

namespace jointer::kernels {

// The strides of [N, C, H, W] stored as [N, H, W, C], with any number of spatial dimensions.
Sizes channels_last_strides(const Sizes& shape);
// True for tensors of 4 or 5 dimensions with these strides and more than one channel; strides of
// dimensions of size 1 do not count.
bool is_channels_last(const Sizes& shape, const Sizes& stride);
// By node: true if the strides of its tensor are not padded, by the rules in channels_last.cpp;
// empty if all strides may be padded.
std::vector<bool> nodes_without_padding(const FxGraph& graph);
// By node: true if its tensor should have the channels innermost, by the rules in
// channels_last.cpp; empty if Inductor keeps the program's layout. `count_users` must have been
// called.
std::vector<bool> nodes_with_channels_last(const FxGraph& graph, TorchVersion version);

}  // namespace jointer::kernels
