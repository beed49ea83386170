#pragma once

#include <string>
#include <vector>

#include "app/cli/commands/options.h"
#include "core/base/result.h"
#include "core/kernels/compiled_order.h"

namespace jointer::cli {

// The predicted kernels, before and after the moves that the user requested.
struct MovedKernels {
  kernels::Kernels before, after;
  std::vector<kernels::KernelMove> moves;
  std::vector<std::string> texts;   // of the moves, as given
  std::vector<std::int64_t> peaks;  // bytes, after each move
};

// Moves kernels, one move after the other: "wait_tensor_3 after mm_7". A kernel is named by a node
// that runs in it, or as Inductor names it ("op4_op7"). `graph` must not be a pair. Error (usage):
// a move is malformed, does not name two different kernels, or would violate a dependency; the
// message then names the dependency.
Result<MovedKernels> move_kernels(const Graph& graph, const kernels::Ir& ir,
                                  kernels::Kernels predicted,
                                  const std::vector<std::string>& moves);

// The member `moves` of the command's answer: each move, with the peak after it.
Json moves_json(const MovedKernels& moved);

}  // namespace jointer::cli
