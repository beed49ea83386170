#pragma once

// Code shared by the passes that raise collectives and sink waits among kernels. They move one
// kernel at a time: the kernel and those that must move with it form a group of adjacent kernels,
// which swaps with the candidate, its neighbor, until something stops it.
//
// Cost: each swap is linear in the size of the group and, if times are used, in the number of
// kernels between a collective and its wait.
//
// Source: torch._inductor.comms (`_reorder_communication_preserving_peak_memory_internal`,
// `_sink_waits_iterative_internal`). As there, the peak within the group is that of its members
// when they joined; later swaps do not update it.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/kernels/order_memory.h"
#include "passes/kernel_order/exposed_time.h"
#include "passes/kernel_order/kernel_passes.h"
#include "passes/kernel_order/kernel_units.h"
#include "passes/support/iterative_moves.h"

namespace jointer {

class KernelMover {
 public:
  virtual ~KernelMover() = default;
  KernelMover(const KernelMover&) = delete;
  KernelMover& operator=(const KernelMover&) = delete;

  // Moves the kernels for which `is_moved` returns true, as far as they can, except for the one
  // that is visited last. The maximum in the options counts these kernels, even those that stay in
  // place. Adds the moves and the peak before them to the report. Returns the new order.
  std::vector<KernelUnit> move_all(KernelPassReport& report);

 protected:
  enum class Direction : std::uint8_t { earlier, later };

  // The arguments must outlive this object.
  KernelMover(const KernelUnits& units, const IterativeOptions& options, Direction direction);

  [[nodiscard]] virtual bool is_moved(KernelUnit unit) const = 0;
  // Begins a new group, which consists of the kernel that moves.
  virtual void begin() = 0;
  // The exposed time of the collective that moves, or whose wait moves; see ExposedTimes.
  [[nodiscard]] virtual ExposedTime exposed() = 0;
  // Handles the candidate by calling join(), change_places() or stop(). Returns true if the group
  // may move on.
  virtual bool meet(KernelUnit candidate) = 0;

  bool stop(KernelLimit limit, KernelUnit at, std::string why = {});
  void join(KernelUnit candidate);
  // Swaps the group with the candidate. If the peak would exceed the budget, stops the group
  // instead and returns false.
  bool change_places(KernelUnit candidate);

  // True if the group depends on the candidate (if kernels move earlier), or the candidate on the
  // group (if they move later).
  [[nodiscard]] bool is_tied(KernelUnit candidate) const {
    return tied_[static_cast<std::size_t>(candidate)] == moved_;
  }
  // The estimated time in milliseconds, multiplied by its factor.
  [[nodiscard]] double ms(KernelUnit unit) const { return ms_[static_cast<std::size_t>(unit)]; }
  [[nodiscard]] std::size_t place(KernelUnit unit) const {
    return places_[static_cast<std::size_t>(unit)];
  }
  // The kernel that moves.
  [[nodiscard]] KernelUnit moved() const { return moved_; }
  // The exposed time of the collective that moves, or whose wait moves. Swaps update it only if
  // times are used.
  [[nodiscard]] const ExposedTime& now() const { return now_; }
  [[nodiscard]] ExposedTimes& times() { return times_; }

  const KernelUnits& units_;
  const IterativeOptions& options_;

 private:
  void move(KernelUnit unit);
  void tie(KernelUnit member);

  Direction direction_;
  std::vector<double> ms_;
  std::vector<KernelUnit> order_;
  std::vector<std::size_t> places_;  // by unit
  std::vector<KernelUnit> tied_;     // by unit: the last moved kernel whose group is tied to it
  kernels::OrderMemory memory_;
  ExposedTimes times_;
  KernelUnit moved_ = -1;
  ExposedTime now_;
  std::size_t first_ = 0, count_ = 0;  // place and size of the group
  std::int64_t group_peak_ = 0;        // bytes
  KernelPassMove report_;
};

// The change in exposed time if `more` additional milliseconds of compute overlap with a
// collective.
double exposed_change(const ExposedTime& time, double more);
// "1.20 ms"
std::string exposed_text(double ms);

}  // namespace jointer
