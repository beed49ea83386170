#pragma once

// The loops and calls that Inductor schedules: the graph after lowering, before fusion. They hold
// the data of `torch._inductor.scheduler.SchedulerNode` and `torch._inductor.dependencies`, of
// torch 2.11 to 2.15.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/id.h"
#include "core/base/small_vector.h"
#include "core/graph/dtype.h"

namespace jointer::kernels {

using BufferId = std::int32_t;
using OpId = std::int32_t;
using Sizes = SmallVector<std::int64_t, 4>;  // of dimensions or loops; strides
using BufferIds = SmallVector<BufferId, 4>;

// The number of elements of a tensor with these sizes, or of iterations of these loops.
inline std::int64_t product(std::span<const std::int64_t> sizes) {
  std::int64_t result = 1;
  for (const std::int64_t size : sizes) result *= size;
  return result;
}

// A position in a buffer, in elements, as a sum over the loops that surround the access:
//   offset + sum of coefficient *
//            ((inner_offset + sum of inner coefficient * inner loop) / divisor % modulus)
// A term without divisor (1) and modulus (0) has one inner loop with the coefficient 1, or a loaded
// value. Terms are sorted, and no two differ only in `coefficient`, so that equal positions compare
// equal.
struct IndexTerm {
  struct Inner {
    // Index into Access::sizes, or -1 for a value that is loaded at run time (an indirect index).
    // Its coefficient tells such values apart; it is not a factor.
    std::int16_t loop = 0;
    std::int64_t coefficient = 1;
    auto operator<=>(const Inner&) const = default;
  };
  SmallVector<Inner, 1> inner;
  std::int64_t inner_offset = 0;
  std::int64_t divisor = 1, modulus = 0;
  std::int64_t coefficient = 1;
  auto operator<=>(const IndexTerm&) const = default;
};

}  // namespace jointer::kernels

template <>
inline constexpr bool jointer::kMovesAsBytes<jointer::kernels::IndexTerm> = true;

namespace jointer::kernels {

struct Index {
  SmallVector<IndexTerm, 3> terms;
  std::int64_t offset = 0;
  auto operator<=>(const Index&) const = default;
};

// A read or write of one buffer (`MemoryDep`, `StarDep`, `WeakDep`).
struct Access {
  enum class Kind : std::uint8_t {
    memory,  // at `index`, in loops of `sizes`
    star,    // the whole buffer, in an unknown pattern
    weak,    // only an order, no data; its `bytes` are 1, as in Inductor
  };
  BufferId buffer = -1;
  Kind kind = Kind::star;
  bool is_atomic =
      false;  // a write that adds (`mode`), or the dependency on the buffer that it adds to
  Index index;
  // Iterations of the op's loops and then its reduced loops, up to the last that `index` uses.
  Sizes sizes;
  std::int64_t bytes = 0;
  BufferId mutating = -1;  // for a weak access: the op's result that must come after `buffer`
  bool keeps_alive =
      false;  // for a weak access: the buffer must live until the op (`is_fake` is false)
  auto operator<=>(const Access&) const = default;
};

// The loops of an op on the CPU before those that are contiguous in memory were merged. Fusion may
// merge them anew (`get_default_sizes_body`).
struct UnmergedLoops {
  Sizes shape;                     // of the result
  Sizes loops;                     // of its dimensions, without those of size 1
  std::vector<std::size_t> order;  // of the loops by stride, outermost first
  std::vector<Index> positions;    // all positions and indices that the op computes, over `loops`
};

// A node of the scheduler before fusion.
struct Op {
  enum class Kind : std::uint8_t {
    pointwise,
    reduction,
    scan,
    sort,
    template_,
    extern_,
    multi_output,
    view,
    collective,
    wait,
    nop
  };
  Kind kind = Kind::nop;
  std::string ir;      // Inductor's class: "Pointwise", "Reduction:sum", "ExternKernelOut", ...
  std::string target;  // for calls: the operator, "aten.mm.default"
  BufferIds outputs;   // buffers that it defines
  std::vector<Access> reads, writes;
  Sizes loops, reduced;                // iterations: the outer loops, the loops that are reduced
  std::int64_t numel = 1, rnumel = 1;  // products of the two (`group`)
  bool is_on_gpu = true;
  bool has_side_effects = false;  // not removed even if nothing reads it
  std::int32_t body_ops = 0;      // operations of its loop body, as `inner_fn_opcount` counts them
  std::vector<NodeId> nodes;      // nodes of the graph that it computes, in their order
  // If torch made an addmm of a sum and a matrix product: the product. Torch names only the
  // sum as a node that the op computes.
  NodeId product;
  // The call whose result the loops complete or copy, such as the convolution whose bias they add.
  NodeId call;
  // If the op is the first layer of a reduction that was split in two: the number of elements that
  // one piece reduces (`_split_size`), and the loops and accesses that the reduction would have
  // without the split. Otherwise 0 and empty.
  std::int64_t split = 0;
  Sizes unsplit_loops, unsplit_reduced;
  std::vector<Access> unsplit_reads, unsplit_writes;
  UnmergedLoops unmerged;  // for pointwise ops on the CPU
};

// A reader of a buffer (`NodeUser`). Aliases share their readers.
struct User {
  OpId op = -1;                // -1: the output of the graph
  bool may_overwrite = false;  // reads it only where it writes (`can_inplace`)
  bool is_weak = false;
  auto operator<=>(const User&) const = default;
};

// A buffer, or an input of the graph.
struct Buffer {
  std::string name;        // "buf12"; an input: its name
  std::int64_t bytes = 0;  // 0: an alias or a result without storage
  std::int64_t numel = 0;
  DType dtype = DType::float32;
  Sizes shape, stride;
  OpId op = -1;  // the op that defines it; -1: an input
  std::vector<BufferId> aliases,
      mutates;              // buffers whose storage it shares, or that its op changes
  std::vector<User> users;  // in program order, each once
  bool is_input = false, is_output = false;
  bool may_be_freed = true;    // false for an input that Inductor may not free
  bool has_no_layout = false;  // has no data, only orders ops (`NoneLayout`)
  bool has_many_results =
      false;  // a call's tuple, whose results are separate buffers (`MultiOutputLayout`)
  bool is_in_other =
      false;  // computed into a part of another buffer, of which it is an alias (concatenation)
};

struct Ir {
  std::vector<Op> ops;                   // in the order of lowering; OpId is the position
  std::vector<Buffer> buffers;           // inputs first, in order; then "buf0", "buf1", ...
  std::vector<std::vector<OpId>> lists;  // the ops of each call on lists of tensors (foreach)
};

}  // namespace jointer::kernels
