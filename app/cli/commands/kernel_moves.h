#pragma once

#include <string>
#include <vector>

#include "app/cli/commands/options.h"
#include "core/base/result.h"
#include "core/kernels/compiled_order.h"

namespace jointer::cli {

// Kernels as predicted, and in the order after the moves that a user has asked for.
struct MovedKernels {
  kernels::Kernels before, after;
  std::vector<kernels::KernelMove> moves;
  std::vector<std::string> texts;   // of the moves, as given
  std::vector<std::int64_t> peaks;  // bytes, after each move
};

// Moves kernels: "wait_tensor_3 after mm_7". A kernel is named by a node that runs in it, or as
// Inductor names it ("op4_op7"). `graph` must not be a pair. Error (usage): a move has another
// form, names no kernel, or does not fit; the message quotes it and says what holds the kernel.
Result<MovedKernels> move_kernels(const Graph& graph, const kernels::Ir& ir,
                                  kernels::Kernels predicted,
                                  const std::vector<std::string>& moves);

// A member of the command's answer: each move, with the peak after it.
Json moves_json(const MovedKernels& moved);

}  // namespace jointer::cli
