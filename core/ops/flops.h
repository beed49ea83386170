#pragma once

// Counts the floating-point operations of one operator call from shapes alone. A multiply-add
// counts as two.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace jointer {

using Sizes = std::vector<std::int64_t>;

// The input of a formula: arguments by position in the operator's schema.
struct OperatorCall {
  struct Argument {
    std::optional<Sizes> tensor;         // sizes, if it is a tensor
    std::optional<std::int64_t> number;  // if it is an integer or a boolean (0, 1)
    std::vector<std::int64_t> numbers;   // if it is a list of integers
  };
  std::string_view packet;  // aten.mm, or a higher-order operator's name
  std::vector<Argument> arguments;
  std::vector<Sizes> outputs;  // sizes of the returned tensors
};

struct Flops {
  // As torch's flop_registry (torch/utils/flop_counter.py) counts; 0 if it has no entry.
  std::int64_t torch_registry = 0;
  // The same, plus what the registry lacks: grouped matmuls, matrix-vector products, attention that
  // older registries do not count (torch_registry.h), ...
  std::int64_t total = 0;
};

// True if there is a formula for the packet, so that callers gather shapes only if needed.
bool has_flop_formula(std::string_view packet);
// True if the registry of the newest torch has an entry: torch's definition of a compute node.
bool is_in_torch_registry(std::string_view packet);

// Zero if the shapes do not fit the operator. Saturates at 64 bits.
Flops operator_flops(const OperatorCall& call);

}  // namespace jointer
