#include "core/workspace/kernel_moves.h"

#include "core/base/json_fields.h"

namespace jointer {

constexpr auto json_fields(const NamedKernel* /*of*/) {
  return std::tuple(json_field("nodes", &NamedKernel::nodes).required(),
                    json_field("number", &NamedKernel::number).if_set(),
                    json_rest(&NamedKernel::extra));
}

constexpr auto json_fields(const NamedKernelMove* /*of*/) {
  return std::tuple(json_field("kernel", &NamedKernelMove::kernel).required(),
                    json_field("anchor", &NamedKernelMove::anchor).required(),
                    json_field("after", &NamedKernelMove::is_after).if_set(),
                    json_field("part", &NamedKernelMove::part).if_set(),
                    json_rest(&NamedKernelMove::extra));
}

constexpr auto json_fields(const NamedKernelMoves* /*of*/) {
  return std::tuple(json_field("moves", &NamedKernelMoves::moves).required(),
                    json_field("place", &NamedKernelMoves::place).required(),
                    json_rest(&NamedKernelMoves::extra));
}

OrderedJson kernel_moves_to_json(const NamedKernelMoves& moves) {
  return json_of(moves);
}

Result<NamedKernelMoves> kernel_moves_from_json(const OrderedJson& json) {
  JOINTER_TRY(NamedKernelMoves moves, from_json<NamedKernelMoves>(json, "`kernel_moves`"));
  if (moves.place > moves.moves.size())
    return input_error("`kernel_moves`: `place`: expected an integer from 0 to {}",
                       moves.moves.size());
  return moves;
}

}  // namespace jointer
