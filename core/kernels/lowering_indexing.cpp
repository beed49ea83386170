// Reads and writes at positions that are loaded at run time.
// Source: torch/_inductor/lowering.py (index_impl, index_put_impl_, check_and_broadcast_indices).

#include <algorithm>

#include "core/kernels/lowering_state.h"

namespace jointer::kernels {

Lowering::IndexPlan Lowering::plan_index(const Sizes& sizes, const Boxes& indices) {
  IndexPlan plan;
  Boxes given;
  for (std::size_t i = 0; i < indices.size(); ++i)
    if (indices[i].storage >= 0) {
      plan.positions.push_back(i);
      given.push_back(indices[i]);
    }
  given = broadcast(std::move(given));
  plan.indices.resize(indices.size());
  for (std::size_t i = 0; i < given.size(); ++i) plan.indices[plan.positions[i]] = given[i];
  for (std::size_t i = 1; i < plan.positions.size(); ++i)
    plan.is_apart = plan.is_apart || plan.positions[i] != plan.positions[i - 1] + 1;
  Sizes rest;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (i >= indices.size() || indices[i].storage < 0) rest.push_back(sizes[i]);
  const Sizes common = shape(given.front());
  const auto first = static_cast<std::ptrdiff_t>(plan.is_apart ? 0 : plan.positions.front());
  plan.result = rest;
  plan.result.insert(plan.result.begin() + first, common.begin(), common.end());
  return plan;
}

Positions Lowering::index_positions(Loops& into, const IndexPlan& plan, const Sizes& sizes,
                                    const Positions& where) {
  const std::size_t rank = shape(plan.indices[plan.positions.front()]).size();
  const std::size_t first = plan.is_apart ? 0 : plan.positions.front();
  const Positions of_index(where.begin() + static_cast<std::ptrdiff_t>(first),
                           where.begin() + static_cast<std::ptrdiff_t>(first + rank));
  Positions result;
  std::size_t next = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (next == first) next += rank;
    if (i < plan.indices.size() && plan.indices[i].storage >= 0) {
      const std::int16_t value = read(into, plan.indices[i], of_index);
      result.push_back(indirect(into, value, sizes[i]));
    } else {
      result.push_back(where[next++]);
    }
  }
  return result;
}

Box Lowering::index_put(Box self, Box values, const Boxes& indices, bool adds) {
  // With one mask and one value, an index_put is a `where`.
  const Sizes sizes = shape(self);
  if (indices.size() == 1 && dtype(indices[0]) == DType::boolean && product(shape(values)) == 1) {
    Box mask = indices[0];
    while (shape(mask).size() < sizes.size()) {
      Sizes wider = shape(mask);
      wider.push_back(1);
      mask = reshape(mask, wider);
    }
    if (is_on_gpu(values) != is_on_gpu(self) && !is_realized(values)) {
      Loops moved = make_loops(values, dtype(values), shape(values));
      read(moved, values, variables(moved.ranges));
      moved.is_on_gpu = is_on_gpu(self);
      values = box_of(std::move(moved));
    }
    if (adds) values = pointwise("add", {self, values}, {}, dtype(self));
    const DType type = dtype(self);
    return mutate_to(self, pointwise("where", {mask, to_dtype(values, type), self}, {}, type));
  }
  const bool has_mask = std::ranges::any_of(indices, [this](const Box& index) {
    return index.storage >= 0 && dtype(index) == DType::boolean;
  });
  if (has_mask || (adds && is_on_gpu(self) && lacks_atomic_addition(dtype(self)))) {
    Boxes read{self, values};
    for (const Box& index : indices)
      if (index.storage >= 0) read.push_back(index);
    call_in_place("IndexPutFallback", "aten.index_put_.default", std::move(read));
    return self;
  }
  values = to_dtype(values, dtype(self));
  realize(self);
  IndexPlan plan = plan_index(sizes, indices);
  values = expand(values, plan.result, true);
  Loops made = make_loops(self, dtype(self), plan.result);
  made.kind = Loops::Kind::scatter;
  made.adds = adds;
  const Positions where = variables(made.ranges);
  made.store = index_positions(made, plan, sizes, where);
  made.stored_after = made.body.size();
  read(made, values, where);
  mark_mutated(buffer_of(self));
  scatter_into(self, std::move(made));
  return self;
}

}  // namespace jointer::kernels
