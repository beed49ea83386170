#pragma once

// Floating-point operations of one operator call, from shapes alone. A multiply-add is two.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace jointer {

using Sizes = std::vector<std::int64_t>;

// What a formula looks at: arguments by their position in the operator's schema.
struct OperatorCall {
  struct Argument {
    std::optional<Sizes> tensor;         // sizes, if it is a tensor
    std::optional<std::int64_t> number;  // if it is a whole number or a condition (0, 1)
    std::vector<std::int64_t> numbers;   // if it is a list of them
  };
  std::string_view packet;  // aten.mm, or a higher-order operator's name
  std::vector<Argument> arguments;
  std::vector<Sizes> outputs;  // sizes of the tensors it returns
};

struct Flops {
  // What torch's flop_registry gives (torch/utils/flop_counter.py); 0 where it has no entry.
  std::int64_t torch_registry = 0;
  // The same, and formulas for what the registry lacks: grouped matmuls, matrix times vector,
  // attention that an older registry did not count (torch_registry.h), ...
  std::int64_t total = 0;
};

// Whether there is a formula for a packet at all (so that callers need not gather shapes).
bool has_flop_formula(std::string_view packet);
// Whether the newest torch's registry has an entry: what torch calls a compute node.
bool is_in_torch_registry(std::string_view packet);

// Zero where shapes do not fit the operator. Numbers that do not fit 64 bits stop at the largest.
Flops operator_flops(const OperatorCall& call);

}  // namespace jointer
