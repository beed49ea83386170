#pragma once

// The part of a collective's time that other kernels do not hide, in an order of kernels.
//
// `of_collective` sums the times of the kernels that run after a collective, up to its first reader
// or a collective that waits for itself; other collectives are not counted. `of_wait` sums backward
// from the wait to its collective, and restarts at zero at a collective that waits for itself and
// at a collective whose wait lies between the two: while such a collective runs, the wait's
// collective does not.
//
// Cost: linear in the number of kernels between the two and of their dependencies.
//
// Source: torch._inductor.comms (`_coll_exposed_communication_time`,
// `_wait_exposed_communication_time`). The first is also meant to stop at the wait of a later
// collective, but it checks the wrong collective, so it never does.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "passes/kernel_order/kernel_units.h"

namespace jointer {

// Milliseconds.
struct ExposedTime {
  double communication = 0;  // of the collective; 0 if there is none
  double compute = 0;        // of the kernels that overlap with it
  // Number of kernels whose times were added, including those before a restart at zero.
  std::int64_t kernels = 0;
  // The kernel where the sum ended: the collective's reader or the wait's collective. -1: an end of
  // the order, or a synchronous collective.
  KernelUnit end = -1;

  [[nodiscard]] double exposed() const { return communication - compute; }
};

class ExposedTimes {
 public:
  // `ms`: times by unit. The arguments must outlive this object; `order` may change.
  ExposedTimes(const KernelUnits& units, const std::vector<double>& ms,
               const std::vector<KernelUnit>& order)
      : units_(units), ms_(ms), order_(order), stamps_(units.size(), 0) {}

  // `place`: the kernel's index in the order.
  [[nodiscard]] ExposedTime of_collective(std::size_t place) const;
  [[nodiscard]] ExposedTime of_wait(std::size_t place);

 private:
  [[nodiscard]] bool reads(KernelUnit reader, KernelUnit maker) const;

  const KernelUnits& units_;
  const std::vector<double>& ms_;
  const std::vector<KernelUnit>& order_;
  std::vector<std::uint32_t> stamps_;  // by unit: the last call that found a wait for it
  std::uint32_t stamp_ = 0;
};

}  // namespace jointer
