#pragma once

// Counts the floating-point operations of an operator call from shapes alone. A multiply-add counts
// as two.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/torch_version.h"

namespace jointer {

using Sizes = std::vector<std::int64_t>;

// The input of a formula. Arguments are in schema order.
struct OperatorCall {
  struct Argument {
    std::optional<Sizes> tensor;         // sizes, if it is a tensor
    std::optional<std::int64_t> number;  // if it is an integer or a boolean (0, 1)
    std::vector<std::int64_t> numbers;   // if it is a list of integers or booleans
  };
  std::string_view packet;  // aten.mm, or a higher-order operator's name
  std::vector<Argument> arguments;
  std::vector<Sizes> outputs;  // sizes of the returned tensors
};

struct Flops {
  // FLOPs according to torch's flop_registry (torch/utils/flop_counter.py); 0 if the registry has
  // no entry.
  std::int64_t torch_registry = 0;
  // FLOPs by Jointer's own rules, which also count what the registry lacks, such as grouped
  // matmuls, matrix-vector products, and attention that older registries do not count.
  std::int64_t total = 0;
};

// True if there is a formula for the packet. Check it first to avoid collecting shapes needlessly.
bool has_flop_formula(std::string_view packet);
// True if the registry of this version of torch has an entry for the packet. Torch calls nodes with
// such operators compute nodes. The top of flops.cpp lists what each version added.
bool is_in_torch_registry(std::string_view packet, TorchVersion torch = kNewestTorch);

// Returns zero if there is no formula, or the shapes do not fit the operator. Saturates at 64 bits.
Flops operator_flops(const OperatorCall& call, TorchVersion torch = kNewestTorch);

}  // namespace jointer
