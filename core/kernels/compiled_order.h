#pragma once

// A recipe of compiled order: moves of kernels as JSON, which a pass of Inductor's scheduler
// replays in another process (resources/python/jointer/kernel_order.py, docs/recipes.md).
//
// Kernels are identified so that the pass finds them, although Inductor's passes rename nodes and
// fusion differs between devices: a collective by its number in the sequence of collectives, which
// Inductor keeps; a wait by its collective and its number among the waits for it; any other kernel
// by the nodes that run in it, each with its operator and its number among the calls of that
// operator. The sequence of collectives is stored, too: moves apply only to a program with the same
// sequence.
//
// Schema: resources/schema/compiled_order.schema.json. Cost: linear in nodes and kernels.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/kernels/kernels.h"

namespace jointer::kernels {

inline constexpr std::string_view kCompiledOrderFormat = "jointer-compiled-order";

// A kernel is moved directly before, or after, another one.
struct KernelMove {
  std::int32_t kernel = -1, anchor = -1;  // indices of `Kernels::kernels`
  bool before = true;
  friend bool operator==(const KernelMove&, const KernelMove&) = default;
};

// The node by which texts name a kernel: the start of the collective if the kernel has one, or else
// its first node. None if no node of the graph runs in the kernel.
NodeId main_node(const Graph& graph, const Kernel& kernel);
// "mm_3", or "kernel 12", counted from 1, for one in which no node runs. `before`: the number of
// kernels in preceding graphs, if the kernels of several graphs are numbered together.
std::string kernel_label(const Graph& graph, const Kernels& kernels, std::int32_t kernel,
                         std::size_t before = 0);

// The moves of one compiled graph: the part `part` of `graph`, which is a half of a pair or a graph
// that is not split. The kernels are in the order before the moves.
struct PartMoves {
  const Graph& graph;
  PartId part;
  const Kernels& kernels;
  TorchVersion torch;
  std::span<const KernelMove> moves;
  std::int64_t peak_before = 0, peak_after = 0;  // bytes
};

// Error (usage): a part is a joint graph, which torch compiles as two halves.
Result<std::string> write_compiled_order(std::string_view title, std::span<const PartMoves> parts);

}  // namespace jointer::kernels
