#pragma once

// Arithmetic on positions in buffers.
//
// Terms: a nest is the iterations of the loops around an access, outermost first. Two loops merge
// if the index advances by the same amount when the inner one wraps around as when the outer one
// advances.
//
// Source: torch._inductor.sizevars (`stride_vars`, `_simplify_loops_impl`), dependencies
// (`MemoryDep.normalize`, `normalize_with_stride_order`, `decide_loop_order_to_match`), loop_body
// (`reorder_iter_loops`, `reindex_iter_loops`).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/kernels/ir.h"

namespace jointer::kernels {

struct NestedIndex {
  Index index;
  Sizes sizes;  // of the nest, up to the last loop that `index` uses
};

// True if the position depends on a value that is loaded at run time.
bool is_indirect(const Index& index);
bool uses_loop(const Index& index, std::size_t loop);
// The number of positions in a nest of `sizes`: the iterations of the loops that `index` uses.
std::int64_t position_count(const Index& index, std::span<const std::int64_t> sizes);
// For each loop, the position at its iteration 1 minus that at iteration 0, with all other loops at
// 0.
Sizes strides_of(const Index& index, std::size_t loops);
// The same difference for one loop.
std::int64_t stride_of(const Index& index, std::size_t loop);
// True if the position is a constant, or the iteration of a single loop, which reads or writes the
// buffer from start to end.
bool is_contiguous(const Index& index);

// Merges all loops that can be merged; removes those of one iteration, and unused ones at the end.
NestedIndex merge_loops(const Index& index, std::span<const std::int64_t> sizes);
// Merges loops that merge in all positions, since an op's code has one nest (`_simplify_loops` of
// several formulas). `loops` are the numbers of the loops in `positions`, outermost first, `sizes`
// their iterations. Returns the new iterations in the same order: 0 for a loop that was merged into
// another or has one iteration.
Sizes merge_together(std::span<const Index> positions, std::span<const std::size_t> loops,
                     std::span<const std::int64_t> sizes);
// Sorts the loops by descending stride before it merges them. Keeps loops that are not used.
NestedIndex merge_sorted_loops(const Index& index, std::span<const std::int64_t> sizes);
// The order of the loops of `index` in which it advances like `other`: its element i is the loop
// that becomes loop i. None if the numbers of loops differ, an index is indirect, a loop is not
// used or has one iteration, strides repeat, or the strides differ.
std::optional<std::vector<std::size_t>> matching_order(const NestedIndex& index,
                                                       const NestedIndex& other);
// The same access in a nest whose loop i is loop `order[i]` of the old one. Loops from
// `order.size()` on keep their places.
Index reorder_loops(const Index& index, std::span<const std::size_t> order);
// The same access in a nest of two loops with `outer` and `inner` iterations. None if no such form
// is found.
std::optional<Index> regroup_loops(const Index& index, std::span<const std::int64_t> sizes,
                                   std::int64_t outer, std::int64_t inner);
// Removes loops at the end of the nest that `index` does not use.
void drop_unused_loops(const Index& index, Sizes& sizes);
// True if loops of `sizes` split into loops of `outer` and then of `inner` iterations
// (`SIMDKernel.is_compatible`).
bool split_into(std::span<const std::int64_t> sizes, std::int64_t outer, std::int64_t inner);

}  // namespace jointer::kernels
