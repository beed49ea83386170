#pragma once

// The kernels that Inductor generates for a graph, in the order in which they run, with the buffers
// between them.
//
// Terms: a kernel is code that Inductor generates, a call of an operator (an external kernel or a
// collective), or a call that launches nothing (a view, one result of an external kernel, a wait, a
// no-op). An op is an element of `Ir::ops`. The source of most rules is
// torch._inductor.{scheduler, memory, choices}; each file of this folder names its part.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/name_table.h"
#include "core/base/result.h"
#include "core/base/torch_version.h"
#include "core/kernels/ir.h"

namespace jointer::kernels {

// The reason why two kernels were not fused. Corresponds to Inductor's `WhyNoFuse`.
enum class Refusal : std::uint8_t {
  runs_before,  // the second runs before the first
  is_nop,       // one of them computes nothing
  is_external,  // one of them is an external kernel
  other_device,
  no_shared_data,        // they access no data in the same pattern
  too_large,             // more than 64 ops
  peak_increases,        // separately, one could reuse the memory of the other's input
  too_few_shared_bytes,  // they share less than 10 bytes
  too_far_apart,         // together they span more than 64 ops
  access_differs,        // the second reads what the first writes, in another pattern
  op_between,            // another op must run between them
  pointwise_size,        // two pointwise kernels of different sizes
  reduction_size,        // two reductions of different sizes
  reduced_size,          // a pointwise kernel and a reduction of different sizes
  loops_do_not_split,    // the pointwise loops do not split into those of the reduction
  split_scan,
  computes_fraction,  // the second computes 1/2, 1/4 or 3/4 of what the first reduces
  would_cycle,        // another kernel would have to run between the parts of the new one
  tiles_differ,       // the tiles of one do not fit the other
  parts_differ,       // the parts of a foreach kernel do not fuse in pairs
  beside_template,    // the second is not an element-wise epilogue for a template's kernel
  loops_differ,       // on the CPU: neither one nest nor the same outer loops
  too_large_on_cpu,   // on the CPU: more than 16 ops, and the second does not depend on the first
};
inline constexpr std::size_t kRefusalCount = 23;

// Returns a sentence that names neither kernel, such as "They run on different devices."
std::string_view to_sentence(Refusal refusal);

// Bytes that a kernel reads from or writes to one buffer: at most the buffer's size. An indirect
// access counts as its worst case.
struct BufferBytes {
  BufferId buffer = -1;
  std::int64_t bytes = 0;
};

struct Kernel {
  enum class Kind : std::uint8_t {
    pointwise,
    reduction,
    mix_order_reduction,  // two reductions over different dimensions of the same data
    foreach_,             // element-wise, for each tensor of a list
    template_,
    external,      // a call of an ATen or library operator (ExternKernel)
    multi_output,  // one result of an external kernel; launches nothing
    view,          // launches nothing
    collective,
    wait,
    nop,
  };
  Kind kind = Kind::nop;
  std::vector<OpId> ops;      // in the order in which they are computed
  std::vector<NodeId> nodes;  // nodes of the graph that run in it, each once
  NodeId product;             // as in Op
  NodeId call;                // as in Op, of a kernel of one op
  std::vector<BufferBytes> reads, writes;
  std::int64_t bytes_read = 0, bytes_written = 0;
  std::int64_t bytes = 0;  // less than the sum of both if it reads and writes the same buffer
  std::int64_t numel = 1, rnumel = 1;  // iterations of the outer loops and of the reduced ones
  bool is_on_gpu = true;
};

// The names of the kinds in files and texts.
inline constexpr NameTable<Kernel::Kind, 11> kKernelKinds{
    {{"pointwise", Kernel::Kind::pointwise},
     {"reduction", Kernel::Kind::reduction},
     {"mix_order_reduction", Kernel::Kind::mix_order_reduction},
     {"foreach", Kernel::Kind::foreach_},
     {"template", Kernel::Kind::template_},
     {"extern", Kernel::Kind::external},
     {"multi_output", Kernel::Kind::multi_output},
     {"view", Kernel::Kind::view},
     {"collective", Kernel::Kind::collective},
     {"wait", Kernel::Kind::wait},
     {"nop", Kernel::Kind::nop}}};
std::string_view to_string(Kernel::Kind kind);
// True if kernels of this kind are launched; false for views, results of calls, waits and no-ops.
bool is_launch(Kernel::Kind kind);
// True if memory traffic bounds the kernel, as Inductor counts: it is launched, and is neither a
// collective nor a template, an external kernel or a kernel with `call` that has FLOPs.
// `has_flops`: torch's flop_registry has FLOPs for `call` or, if the kernel has none, for one of
// its nodes or `product`.
bool is_memory_bound(const Kernel& kernel, bool has_flops);

// The time in which a buffer, or an input that may be freed, takes up memory.
struct BufferLife {
  BufferId buffer = -1;
  std::int64_t allocated = 0, freed = 0;  // bytes
  std::int32_t first = 0;                 // index of the kernel that allocates it; 0 for inputs
  std::int32_t last = -1;                 // index of the kernel after which it is freed; -1: never
};

// The kernels that use each buffer of `Kernels::lives`, each once.
struct BufferUsers {
  std::vector<std::int32_t> ends;     // by life: the end of its users in `kernels`
  std::vector<std::int32_t> kernels;  // in no particular order
  [[nodiscard]] std::span<const std::int32_t> of(std::size_t life) const {
    if (life >= ends.size()) return {};
    const auto begin = life == 0 ? 0U : static_cast<std::size_t>(ends[life - 1]);
    return std::span(kernels).subspan(begin, static_cast<std::size_t>(ends[life]) - begin);
  }
};

// The last refusal of a pair of ops that ended up in different kernels.
struct RefusedPair {
  OpId first = -1, second = -1;
  Refusal refusal = Refusal::no_shared_data;
};

// The orders that Inductor tries. It uses the one with the lowest peak, or the first of several
// with that peak.
enum class MemoryOrder : std::uint8_t { as_fused, least_peak_first, breadth_first, depth_first };

struct Kernels {
  std::vector<Kernel> kernels;          // in the order in which they run
  std::vector<std::int32_t> kernel_of;  // by op; -1: a dead op
  std::vector<BufferLife> lives;
  BufferUsers users;
  std::int64_t peak = 0;  // bytes, as `estimate_peak_memory_allocfree` counts them
  std::vector<std::int64_t> after_allocation, after_release;  // bytes, by kernel
  std::vector<std::int32_t>
      fused_order;  // kernels in the order after fusion, before they were reordered for memory
  MemoryOrder order = MemoryOrder::as_fused;
  std::int64_t fused_peak = 0;  // of `fused_order`, counted as `peak`
  std::array<std::int64_t, 4>
      order_peaks{};  // by MemoryOrder, as `estimate_peak_memory` counts them
  std::vector<RefusedPair> refused;
  std::array<std::int32_t, kRefusalCount> refusals{};  // number of times each reason was given

  // The kernels of a refused pair; none if one of its ops is dead, or both are in one kernel.
  [[nodiscard]] std::optional<std::pair<std::int32_t, std::int32_t>> kernels_of(
      const RefusedPair& pair) const;
  // The kernels with which `kernel` was not fused, and the reasons. A reason counts once for two
  // kernels, even if it separates several pairs of their ops. Cost: linear in `refused`.
  [[nodiscard]] std::set<std::pair<std::int32_t, Refusal>> refusals_of(std::int32_t kernel) const;
};

class Scheduling;

// Changes the order of kernels after they were reordered for low memory, where Inductor runs
// `reorder_for_compute_comm_overlap_passes`. `nodes`: nodes of `scheduling` in their order; returns
// all of them in the new order, each after the nodes that it depends on.
using Reorder = std::function<std::vector<std::int32_t>(const Scheduling& scheduling,
                                                        std::span<const std::int32_t> nodes)>;

// Returns the kernels of an Ir. `torch` is the version whose rules apply, from 2.11 to 2.15.
// `reorder` and `is_cancelled` may be empty. Error (cancelled): `is_cancelled` returned true.
Result<Kernels> schedule(const Ir& ir, TorchVersion torch, const Reorder& reorder,
                         const std::function<bool()>& is_cancelled);
// The same without cancellation.
Kernels schedule(const Ir& ir, TorchVersion torch = kNewestTorch, const Reorder& reorder = {});

}  // namespace jointer::kernels
