#pragma once

// The kernels of a graph, prepared for passes that change their order: numbered in the order in
// which they run before the pass, with dependencies, times and memory, and with communication
// identified.
//
// Source: torch._inductor.scheduler (`unmet_dependencies`) and the predicates of
// torch._inductor.comms and utils (`contains_collective`, `contains_async_collective`,
// `contains_wait`, `contains_gemm_like`).

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/lists.h"
#include "core/kernels/memory_order.h"
#include "core/kernels/scheduling.h"

namespace jointer {

// A kernel's number: its index in the order before the pass.
using KernelUnit = kernels::Place;

class KernelUnits {
 public:
  // `ms_of_op`: indexed by op, the time in milliseconds of the kernel that begins with this op; it
  // is copied. `scheduling` and `nodes` must outlive this object.
  KernelUnits(const kernels::Scheduling& scheduling, std::span<const kernels::NodeIndex> nodes,
              std::span<const double> ms_of_op);

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] const kernels::Scheduling& scheduling() const { return scheduling_; }
  [[nodiscard]] const kernels::MemoryPlan& memory() const { return memory_; }
  [[nodiscard]] std::span<const kernels::OpId> ops(KernelUnit unit) const {
    return scheduling_.node(nodes_[static_cast<std::size_t>(unit)]).ops;
  }
  [[nodiscard]] kernels::OpId first_op(KernelUnit unit) const { return ops(unit).front(); }

  // The kernels that must run before or after a kernel, each once. `before` and `after` leave out
  // kernels that only keep their order with it, such as collectives (`is_fake`); `ordered_before`
  // and `ordered_after` include them.
  [[nodiscard]] std::span<const KernelUnit> before(KernelUnit unit) const {
    return data_before_.of(static_cast<std::size_t>(unit));
  }
  [[nodiscard]] std::span<const KernelUnit> after(KernelUnit unit) const {
    return data_after_.of(static_cast<std::size_t>(unit));
  }
  [[nodiscard]] std::span<const KernelUnit> ordered_before(KernelUnit unit) const {
    return all_before_.of(static_cast<std::size_t>(unit));
  }
  [[nodiscard]] std::span<const KernelUnit> ordered_after(KernelUnit unit) const {
    return all_after_.of(static_cast<std::size_t>(unit));
  }

  [[nodiscard]] bool is_collective(KernelUnit unit) const { return has(unit, kCollective); }
  // True for a collective, unless it waits for itself (_dtensor.shard_dim_alltoall).
  [[nodiscard]] bool is_asynchronous(KernelUnit unit) const { return has(unit, kAsynchronous); }
  [[nodiscard]] bool is_wait(KernelUnit unit) const { return has(unit, kWait); }
  // True if the kernel is a single op: a library call with a given output (ExternKernelOut), such
  // as a matrix product, or a convolution or flash attention.
  [[nodiscard]] bool is_gemm_like(KernelUnit unit) const { return has(unit, kGemm); }
  [[nodiscard]] double ms(KernelUnit unit) const { return ms_[static_cast<std::size_t>(unit)]; }

 private:
  enum Flag : std::uint8_t { kCollective = 1, kAsynchronous = 2, kWait = 4, kGemm = 8 };
  [[nodiscard]] bool has(KernelUnit unit, Flag flag) const {
    return (flags_[static_cast<std::size_t>(unit)] & flag) != 0;
  }
  void find_dependencies();
  void describe(std::span<const double> ms_of_op);

  const kernels::Scheduling& scheduling_;
  std::span<const kernels::NodeIndex> nodes_;
  kernels::MemoryPlan memory_;
  Lists<KernelUnit> data_before_, data_after_, all_before_, all_after_;
  std::vector<std::uint8_t> flags_;
  std::vector<double> ms_;
};

}  // namespace jointer
