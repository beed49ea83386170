// sink_waits_iterative, on kernels: moves waits later, one at a time, as far as memory allows.
//
// Terms: a group is the wait and the kernels after it that move with it because they depend on it;
// the candidate is the kernel directly after the group.
//
// Steps. Visit the waits from the last to the first. If times are used, a wait stops once its
// collective is hidden with enough surplus compute. Until then, for each candidate:
//   1. An asynchronous collective stops the wait, unless
//      sink_waits_iterative_swap_with_collectives is set.
//   2. If a candidate needs data of the group, or if it is a collective and the group contains one,
//      it joins the group, unless it is a wait, an asynchronous collective or, if times are not
//      used, any collective or a library's matrix product, convolution or flash attention.
//   3. Any other candidate that needs no data of the group swaps with it, unless
//      - it is a collective, the group contains one, and
//        sink_waits_iterative_unsafe_collectives_reorder is not set;
//      - times are used, and the candidate is a wait whose collective would be more exposed, or
//        more time would become exposed elsewhere than hidden here;
//      - the peak would exceed the budget.
//   4. The wait stops at the first candidate that neither joins nor swaps.
//
// Cost: kernel_mover.h.
//
// Source: torch 2.15, torch/_inductor/comms.py and config_comms.py
// (`_sink_waits_iterative_internal`). Step 3 compares exposed times as the given version of torch
// does (pays_off). No deviations. Except for the maximum number of moves, options for debugging and
// logging are left out.

#include <algorithm>

#include "passes/kernel_order/kernel_mover.h"

namespace jointer {
namespace {

class KernelSinker final : public KernelMover {
 public:
  KernelSinker(const KernelUnits& units, const IterativeOptions& options, TorchVersion torch)
      : KernelMover(units, options, Direction::later), torch_(torch) {}

 private:
  [[nodiscard]] bool is_moved(KernelUnit unit) const override { return units_.is_wait(unit); }
  void begin() override {
    group_collectives_.clear();
    has_collective_ = false;
    group_ms_ = 0;
  }
  [[nodiscard]] ExposedTime exposed() override { return times().of_wait(place(moved())); }

  bool meet(KernelUnit candidate) override {
    if (!options_.with_collectives && units_.is_asynchronous(candidate))
      return stop(KernelLimit::collective_ahead, candidate);
    const bool is_needed = is_tied(candidate);
    const bool both = has_collective_ && units_.is_collective(candidate);
    if (is_needed || both) {
      const std::string bar = bar_to_join(candidate);
      if (bar.empty()) return take_along(candidate);
      if (is_needed) return stop(KernelLimit::data_dependency, candidate, bar);
      if (!options_.unsafe) return stop(KernelLimit::collective_order, candidate);
    }
    if (options_.use_times && !pays_off(candidate)) return false;
    return change_places(candidate);
  }

  [[nodiscard]] std::string bar_to_join(KernelUnit candidate) const {
    if (units_.is_wait(candidate)) return "a wait";
    if (units_.is_asynchronous(candidate)) return "a collective";
    if (options_.use_times) return {};
    if (units_.is_collective(candidate)) return "a collective";
    return units_.is_gemm_like(candidate) ? "a long-running kernel" : "";
  }

  bool take_along(KernelUnit candidate) {
    join(candidate);
    if (!units_.is_collective(candidate)) return true;
    has_collective_ = true;
    if (options_.use_times) {
      group_collectives_.push_back(times().of_collective(place(candidate)));
      if (!units_.is_asynchronous(candidate)) group_ms_ += ms(candidate);
    }
    return true;
  }

  bool pays_off(KernelUnit candidate) {
    if (units_.is_wait(candidate)) {
      const double worse = exposed_change(times().of_wait(place(candidate)), -group_ms_);
      if (worse > 0) return stop(KernelLimit::candidate_exposed, candidate, exposed_text(worse));
    }
    const double own = ms(candidate);
    if (units_.is_asynchronous(candidate) || own <= 0 || group_collectives_.empty()) return true;
    // Before 2.13, torch omits one term of the sum, and the other terms have the opposite sign.
    const bool is_old = torch_ < TorchVersion{2, 13};
    double worse = is_old ? std::max(0.0, now().exposed()) : exposed_change(now(), own);
    for (const ExposedTime& each : group_collectives_)
      worse += exposed_change(each, -own) * (is_old ? -1 : 1);
    if (worse > 0) return stop(KernelLimit::group_exposed, candidate, exposed_text(worse));
    for (ExposedTime& each : group_collectives_) each.compute -= own;
    return true;
  }

  TorchVersion torch_;
  bool has_collective_ = false;  // in the group
  std::vector<ExposedTime> group_collectives_;
  double group_ms_ = 0;
};

std::vector<KernelUnit> run_kernel_sink(const KernelUnits& units, const Arguments& given,
                                        TorchVersion torch, KernelPassReport& report) {
  const IterativeOptions options = sink_options(given);
  return KernelSinker(units, options, torch).move_all(report);
}

}  // namespace

KernelPass sink_waits_iterative_kernel_pass() {
  return {.name = "sink_waits_iterative",
          .summary = "Moves waits later, one at a time, as far as memory allows.",
          .parameters = sink_parameters(true),
          .run = run_kernel_sink};
}

}  // namespace jointer
