#pragma once

// The kernels that Inductor's scheduler makes of one graph, with nodes of that graph.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json_text.h"
#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/kernels/kernel_list.h"
#include "core/kernels/kernels.h"

namespace jointer {

struct InductorAnswer {
  struct NotFused {
    std::int32_t first = -1, second = -1;  // indices of kernels
    std::string reason;                    // in Inductor's words
  };

  std::string torch;  // "2.15.0"
  std::string device;
  // In the order in which they run, with kind, nodes, bytes, iterations and `is_on_gpu`. Nodes that
  // the graph does not have, because a pass of Inductor made them, are left out. Buffers and ops
  // are unknown.
  std::vector<kernels::Kernel> scheduled;
  std::vector<std::string> names;  // by kernel: "op4_op7"
  std::vector<NotFused> not_fused;
  std::int64_t peak = 0;  // bytes
};

// Reads the JSON that ask_inductor returned about this part of the graph. Error (run): a member is
// invalid; the message names it.
Result<InductorAnswer> read_inductor_answer(const OrderedJson& json, const Graph& graph,
                                            PartId part);

// Converts the answer to a list that kernel_differences.h can compare.
kernels::KernelList list_of(const Graph& graph, const InductorAnswer& answer);

}  // namespace jointer
