// sink_waits, raise_comms, reorder_compute_for_overlap, on kernels: list scheduling that hides
// collectives (passes/support/list_scheduler.h). raise_comms raises collectives, sink_waits sinks
// waits, and reorder_compute_for_overlap does both and runs compute during each collective.
//
// A kernel blocks a collective if one of its ops is an ancestor of the collective, even if its
// other ops are not. Collectives keep their order, since Inductor makes each depend on the previous
// one.
//
// Cost: n log n for n kernels, plus the number of their dependencies.
//
// Source: torch 2.15, torch/_inductor/comms.py (`_schedule_for_comm`). No deviations. Upstream
// reports nothing; here, the table has a row for each asynchronous collective, with its exposed
// time in both orders.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "core/base/index.h"
#include "passes/kernel_order/exposed_time.h"
#include "passes/kernel_order/kernel_passes.h"
#include "passes/kernel_order/kernel_units.h"
#include "passes/support/list_scheduler.h"

namespace jointer {
namespace {

// Kernels, as ListScheduler reads them.
class ScheduledKernels {
 public:
  using Unit = std::uint32_t;

  explicit ScheduledKernels(const KernelUnits& units) : units_(units) {}

  [[nodiscard]] std::size_t size() const { return units_.size(); }
  [[nodiscard]] bool is_start(Unit unit) const { return units_.is_collective(of(unit)); }
  [[nodiscard]] bool is_wait(Unit unit) const { return units_.is_wait(of(unit)); }
  [[nodiscard]] double time(Unit unit) const { return units_.ms(of(unit)); }
  template <class Visit>
  void for_each_after(Unit unit, Visit visit) const {
    for (const KernelUnit after : units_.ordered_after(of(unit))) visit(static_cast<Unit>(after));
  }

 private:
  static KernelUnit of(Unit unit) { return static_cast<KernelUnit>(unit); }
  const KernelUnits& units_;
};

// Indexed by unit: the number of the first collective that is one of its ops or depends on one;
// kNothing if there is none, or if `aims` do not raise collectives.
std::vector<std::uint32_t> blocked_collectives(const KernelUnits& units, ListAims aims) {
  std::vector<std::uint32_t> blocks(units.size(), ListScheduler<ScheduledKernels>::kNothing);
  if (!aims.raise) return blocks;
  const kernels::Scheduling& scheduling = units.scheduling();
  const kernels::Ir& ir = scheduling.ir();
  std::vector<std::uint32_t> of_op(ir.ops.size(), ListScheduler<ScheduledKernels>::kNothing);
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < units.size(); ++i)
    if (const auto unit = static_cast<KernelUnit>(i); units.is_collective(unit))
      of_op[as_index(units.first_op(unit))] = number++;
  // Nodes before fusion, each after those that it depends on.
  const std::vector<kernels::NodeIndex>& order = scheduling.first_order();
  for (std::size_t i = order.size(); i-- > 0;)
    for (const kernels::OpId op : scheduling.node(order[i]).ops)
      for (const kernels::Access& read : scheduling.op(op).reads) {
        if (read.buffer < 0) continue;
        const kernels::OpId maker = scheduling.buffer(read.buffer).op;
        if (maker >= 0)
          of_op[as_index(maker)] = std::min(of_op[as_index(maker)], of_op[as_index(op)]);
      }
  for (std::size_t i = 0; i < units.size(); ++i)
    for (const kernels::OpId op : units.ops(static_cast<KernelUnit>(i)))
      blocks[i] = std::min(blocks[i], of_op[as_index(op)]);
  return blocks;
}

// Reports the peak before, and a row for each asynchronous collective, in their original order.
void report_collectives(const KernelUnits& units, const std::vector<KernelUnit>& order,
                        KernelPassReport& report) {
  std::vector<double> ms;
  std::vector<KernelUnit> before(units.size());
  std::iota(before.begin(), before.end(), 0);
  std::vector<std::size_t> places(units.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    ms.push_back(units.ms(static_cast<KernelUnit>(i)));
    places[as_index(order[i])] = i;
  }
  const ExposedTimes old_times(units, ms, before), new_times(units, ms, order);
  report.peak_before = units.memory().peak(before).peak;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const KernelUnit unit = before[i];
    if (!units.is_asynchronous(unit)) continue;
    const ExposedTime time = new_times.of_collective(places[i]);
    KernelPassMove& move = report.moves.emplace_back();
    move.op = units.first_op(unit);
    move.communication_ms = time.communication;
    move.compute_ms = time.compute;
    move.initial_exposed_ms = old_times.of_collective(i).exposed();
    move.final_exposed_ms = time.exposed();
    move.moves = std::abs(static_cast<std::int64_t>(places[i]) - static_cast<std::int64_t>(i));
    move.end = time.end < 0 ? -1 : units.first_op(time.end);
    move.overlapping = time.kernels;
  }
}

std::vector<KernelUnit> scheduled_kernels(const KernelUnits& units, ListAims aims,
                                          KernelPassReport& report) {
  const ScheduledKernels scheduled(units);
  const std::vector<std::uint32_t> blocks = blocked_collectives(units, aims);
  ListScheduler scheduler(scheduled, aims);
  for (std::size_t i = 0; i < units.size(); ++i)
    scheduler.add(
        static_cast<std::uint32_t>(i),
        static_cast<std::uint32_t>(units.ordered_before(static_cast<KernelUnit>(i)).size()),
        blocks[i]);
  const auto nothing = [](auto&&...) {};
  // run() fails only if its first argument returns an error, and this one never does.
  static_cast<void>(scheduler.run([](std::size_t) { return Result<void>(); }, nothing));
  std::vector<KernelUnit> order;
  order.reserve(units.size());
  for (const std::uint32_t unit : scheduler.take_order())
    order.push_back(static_cast<KernelUnit>(unit));
  report_collectives(units, order, report);
  return order;
}

KernelPass list_pass(std::string name, std::string summary, ListAims aims) {
  return {
      .name = std::move(name),
      .summary = std::move(summary),
      .parameters = {},
      .run = [aims](const KernelUnits& units, const Arguments&, TorchVersion,
                    KernelPassReport& report) { return scheduled_kernels(units, aims, report); }};
}

}  // namespace

KernelPass sink_waits_kernel_pass() {
  return list_pass("sink_waits", "Runs every wait as late as possible.", {.sink = true});
}

KernelPass raise_comms_kernel_pass() {
  return list_pass("raise_comms", "Starts every collective as early as possible.", {.raise = true});
}

KernelPass reorder_compute_for_overlap_kernel_pass() {
  return list_pass("reorder_compute_for_overlap",
                   "Runs ready compute during each collective until the collective is hidden.",
                   {.raise = true, .sink = true, .overlap = true});
}

}  // namespace jointer
