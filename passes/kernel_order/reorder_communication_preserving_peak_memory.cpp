// reorder_communication_preserving_peak_memory, on kernels: starts collectives earlier, one at a
// time, as far as memory allows.
//
// Terms: a group is the collective and the kernels that move with it because it depends on them;
// the candidate is the kernel directly before the group.
//
// Steps. Visit the asynchronous collectives in their order. If times are used, a collective stops
// once it is hidden with enough surplus compute. Until then, for each candidate:
//   1. A collective stops the group, unless reorder_iterative_unsafe_collectives_reorder is set.
//   2. If the group needs data of a candidate, the candidate joins the group, unless it is an
//      asynchronous collective (reorder_iterative_group_with_collectives lets it join) or, if times
//      are not used, a library's matrix product, convolution or flash attention.
//   3. Any other candidate swaps with the group, unless
//      - times are used, and more time would become exposed elsewhere than hidden here;
//      - the peak would exceed the budget.
//   4. The collective stops at the first candidate that neither joins nor swaps.
//
// Cost: kernel_mover.h.
//
// Source: torch 2.15, torch/_inductor/comms.py and config_comms.py
// (`_reorder_communication_preserving_peak_memory_internal`). No deviations. Except for the maximum
// number of moves, options for debugging and logging are left out, since the table is always
// reported. As in upstream, collectives may overtake each other by default: every rank reorders
// them in the same way, as long as all ranks estimate the same times.

#include "passes/kernel_order/kernel_mover.h"

namespace jointer {
namespace {

class KernelRaiser final : public KernelMover {
 public:
  KernelRaiser(const KernelUnits& units, const IterativeOptions& options)
      : KernelMover(units, options, Direction::earlier) {}

 private:
  [[nodiscard]] bool is_moved(KernelUnit unit) const override {
    return units_.is_asynchronous(unit);
  }
  void begin() override {
    group_waits_.clear();
    group_ms_ = 0;
  }
  [[nodiscard]] ExposedTime exposed() override { return times().of_collective(place(moved())); }

  bool meet(KernelUnit candidate) override {
    if (!options_.unsafe && units_.is_collective(candidate))
      return stop(KernelLimit::collective_order, candidate);
    if (is_tied(candidate)) return take_along(candidate);
    if (options_.use_times && !pays_off(candidate)) return false;
    return change_places(candidate);
  }

  bool take_along(KernelUnit candidate) {
    if (!options_.with_collectives && units_.is_asynchronous(candidate))
      return stop(KernelLimit::data_dependency, candidate, "a collective");
    if (!options_.use_times && units_.is_gemm_like(candidate))
      return stop(KernelLimit::data_dependency, candidate, "a long-running kernel");
    join(candidate);
    if (options_.use_times) {
      if (units_.is_wait(candidate)) group_waits_.push_back(times().of_wait(place(candidate)));
      if (!units_.is_asynchronous(candidate)) group_ms_ += ms(candidate);
    }
    return true;
  }

  bool pays_off(KernelUnit candidate) {
    if (units_.is_asynchronous(candidate)) {
      if (group_ms_ <= 0) return true;
      const double worse = exposed_change(times().of_collective(place(candidate)), -group_ms_);
      return worse <= 0 || stop(KernelLimit::candidate_exposed, candidate, exposed_text(worse));
    }
    const double own = ms(candidate);
    if (own <= 0 || group_waits_.empty()) return true;
    double worse = exposed_change(now(), own);
    for (const ExposedTime& waited : group_waits_) worse += exposed_change(waited, -own);
    if (worse > 0) return stop(KernelLimit::waits_exposed, candidate, exposed_text(worse));
    for (ExposedTime& waited : group_waits_) waited.compute -= own;
    return true;
  }

  std::vector<ExposedTime> group_waits_;
  double group_ms_ = 0;
};

std::vector<KernelUnit> run_kernel_raise(const KernelUnits& units, const Arguments& given,
                                         TorchVersion, KernelPassReport& report) {
  const IterativeOptions options = raise_options(given);
  return KernelRaiser(units, options).move_all(report);
}

}  // namespace

KernelPass reorder_communication_preserving_peak_memory_kernel_pass() {
  return {.name = "reorder_communication_preserving_peak_memory",
          .summary = "Starts collectives earlier, one at a time, as far as memory allows.",
          .parameters = raise_parameters(true),
          .run = run_kernel_raise};
}

}  // namespace jointer
