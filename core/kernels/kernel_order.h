#pragma once

// An order of kernels that a user edits: the places to which a kernel may be moved, what holds it
// there, and the peak of the order.
//
// Terms: the place of a kernel is its index in the order. A kernel is held by another if one of
// its ops reads a buffer that an op of the other defines. The reads of `Ir` include orders without
// data: a kernel that overwrites a buffer runs after the kernels that read the old value, through
// any alias, and Inductor keeps all collectives in one order.
//
// Steps
//   1. Each read makes a dependency between two kernels; collectives are chained in the order in
//      which they run, so that every rank starts them in one order, whatever the Ir demands.
//   2. A kernel may be moved between the last kernel that holds it and the first that it holds:
//      the others keep their order, so only direct dependencies matter.
//   3. The peak is counted as that of Inductor's own orders (memory_order.h): a buffer is allocated
//      with the kernel that defines it, and freed after the last of its users in the new order.
//
// Cost: linear in reads once, in dependencies of the kernel for a range, in its distance for a
// move, and in users of buffers for a peak.
// Source: torch._inductor.scheduler (`compute_dependencies`), torch._inductor.memory
// (`estimate_peak_memory_allocfree`).
// Deviations: Inductor also keeps a collective after the wait for the one before it, if that is the
// order of the graph. Nothing needs this, so here a collective may start before that wait. The
// bytes of an input that may be freed stay those of the order as scheduled; Inductor uses those of
// the last read.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/kernels/ir.h"
#include "core/kernels/kernels.h"

namespace jointer::kernels {

// The reason why one kernel runs after another.
enum class OrderReason : std::uint8_t {
  data,         // it reads what the other computes
  mutation,     // it reads what the other has changed in place
  old_value,    // it overwrites what the other reads
  collectives,  // both start collectives
};

class KernelOrder {
 public:
  // Starts with the order as scheduled. Both arguments must outlive this object.
  KernelOrder(const Ir& ir, const Kernels& kernels);

  // Indices in `Kernels::kernels`, in the current order.
  [[nodiscard]] std::span<const std::int32_t> order() const { return order_; }
  [[nodiscard]] std::int32_t place(std::int32_t kernel) const {
    return places_[static_cast<std::size_t>(kernel)];
  }
  [[nodiscard]] bool is_as_scheduled() const;

  struct Bound {
    std::int32_t kernel = -1;  // -1: nothing holds it on this side
    OrderReason reason = OrderReason::data;
    BufferId buffer = -1;  // the buffer of the dependency; -1 for collectives
  };
  struct Range {
    std::int32_t first = 0, last = 0;  // places, including the present one
    Bound after, before;               // the kernel must stay between these two
  };
  [[nodiscard]] Range range(std::int32_t kernel) const;

  // Moves a kernel to a place; those in between move by one. Returns false, and does nothing, if
  // the place is not in its range.
  bool move(std::int32_t kernel, std::int32_t place);
  // The place that the kernel gets if it is moved directly before, or after, another one.
  [[nodiscard]] std::int32_t place_next_to(std::int32_t kernel, std::int32_t anchor,
                                           bool before) const;
  void reset();

  struct Memory {
    std::int64_t peak = 0;  // bytes
    std::vector<BufferLife> lives;
    std::vector<std::int64_t> after_allocation, after_release;  // by place
  };
  [[nodiscard]] Memory memory() const;

  // The kernels in this order, as if Inductor had chosen it. The refusals, and the peaks of orders
  // that Inductor tries, are those of the order as scheduled.
  [[nodiscard]] Kernels reordered() const;

 private:
  struct Dependency {
    std::int32_t kernel = -1;
    OrderReason reason = OrderReason::data;
    BufferId buffer = -1;
  };
  void depend(std::int32_t kernel, std::int32_t on, OrderReason reason, BufferId buffer);
  void chain_collectives();
  [[nodiscard]] bool chains_collectives(const Access& read) const;
  void add_reads(std::int32_t kernel);

  const Ir& ir_;
  const Kernels& kernels_;
  std::vector<std::int32_t> order_, places_;
  std::vector<std::vector<Dependency>> before_, after_;  // by kernel, each once
};

// Returns the name of a kernel for use in a sentence.
using KernelNames = std::function<std::string(std::int32_t kernel)>;

// Explains what holds a kernel at an end of its range: "Held by mm_3: earlier, it would read buf7
// before it exists." Empty if nothing holds it there.
std::string earliest_reason(const Ir& ir, const KernelOrder::Range& range,
                            const KernelNames& names);
std::string latest_reason(const Ir& ir, const KernelOrder::Range& range, const KernelNames& names);

}  // namespace jointer::kernels
