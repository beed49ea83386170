#pragma once

// The user's moves of predicted kernels, as workspaces and journals store them. A kernel is named
// by the nodes that run in it, so that it is found again among kernels that are predicted later.

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/json_text.h"
#include "core/base/result.h"

namespace jointer {

struct NamedKernel {
  std::vector<std::string> nodes = {};  // edit_name() of each, in the kernel's order
  std::size_t number = 0;               // among the kernels of the part with the same nodes
  std::string extra = {};
  friend bool operator==(const NamedKernel&, const NamedKernel&) = default;
};

// A kernel is moved directly before, or after, another one.
struct NamedKernelMove {
  NamedKernel kernel = {}, anchor = {};
  bool is_after = false;
  std::size_t part = 0;  // 1: the backward of a pair
  std::string extra = {};
  friend bool operator==(const NamedKernelMove&, const NamedKernelMove&) = default;
};

struct NamedKernelMoves {
  std::vector<NamedKernelMove> moves = {};  // applied and undone ones, in order
  std::size_t place = 0;                    // number of applied moves
  std::string extra = {};
  friend bool operator==(const NamedKernelMoves&, const NamedKernelMoves&) = default;
};

OrderedJson kernel_moves_to_json(const NamedKernelMoves& moves);
// Error (input): the JSON does not have this form.
Result<NamedKernelMoves> kernel_moves_from_json(const OrderedJson& json);

}  // namespace jointer
