#pragma once

// Kernels as they are compared: the nodes that run in each, its bytes, and the pairs that were not
// fused. A list has the same form for predicted kernels and for Inductor's.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "core/kernels/kernels.h"

namespace jointer::kernels {

struct ListedKernel {
  Kernel::Kind kind = Kernel::Kind::nop;
  // The nodes that compute something in the kernel, each once; empty if they are unknown.
  std::vector<NodeId> nodes;
  std::int64_t bytes = 0;  // read and written
};

// A reason why two kernels were not fused; there may be several.
struct ListedRefusal {
  std::int32_t first = -1, second = -1;  // indices of kernels
  std::string reason;                    // as rule_of_reason returns it
};

struct KernelList {
  std::vector<ListedKernel> kernels;  // in the order in which they run
  std::vector<ListedRefusal> refused;
  std::int64_t peak = 0;  // bytes of allocated memory
};

// The calls among the nodes, without views, reshapes and selections of results, which only some
// sources name.
std::vector<NodeId> computing_nodes(const Graph& graph, const std::vector<NodeId>& nodes);

// The predicted kernels as a list.
KernelList list_of(const Graph& graph, const Kernels& predicted);

// Returns the sentence (`to_sentence`) for a refusal that Inductor states in its own words
// (`WhyNoFuse`), so that equal reasons are equal texts. If no Refusal corresponds to it, returns
// Inductor's words without the sizes that follow them.
std::string rule_of_reason(std::string_view inductors_words);

}  // namespace jointer::kernels
