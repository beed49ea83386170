#include "passes/kernel_order/kernel_passes.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/base/index.h"
#include "core/base/nearest_name.h"
#include "passes/kernel_order/kernel_units.h"

namespace jointer {

namespace {

struct CheckedPass {
  KernelPass pass;
  Arguments arguments;
};

Result<std::vector<CheckedPass>> checked_passes(const Pipeline& pipeline) {
  const std::vector<KernelPass> all = kernel_passes();
  std::vector<CheckedPass> checked;
  for (const PipelineStep& step : pipeline) {
    const auto found = std::ranges::find(all, step.pass, &KernelPass::name);
    if (found == all.end()) {
      std::vector<std::string_view> names;
      for (const KernelPass& each : all) names.emplace_back(each.name);
      return fail(Error::Kind::usage, "there is no kernel pass {}{} the kernel passes are {}",
                  step.pass, nearest_name_question(step.pass, names), some_names(step.pass, names));
    }
    auto arguments = Arguments::check(found->parameters, step.given);
    if (!arguments) return fail(Error::Kind::usage, "{}: {}", step.pass, arguments.error().message);
    if (step.is_enabled) checked.push_back({*found, *std::move(arguments)});
  }
  return checked;
}

std::vector<kernels::NodeIndex> run_passes(const kernels::Scheduling& scheduling,
                                           std::span<const kernels::NodeIndex> given,
                                           std::span<const CheckedPass> passes, TorchVersion torch,
                                           std::span<const double> ms_of_op,
                                           std::vector<KernelPassReport>& reports) {
  std::vector<kernels::NodeIndex> nodes(given.begin(), given.end());
  for (const CheckedPass& each : passes) {
    KernelPassReport& report = reports.emplace_back();
    report.pass = each.pass.name;
    const KernelUnits units(scheduling, nodes, ms_of_op);
    const std::vector<KernelUnit> order = each.pass.run(units, each.arguments, torch, report);
    report.peak_after = units.memory().peak(order).peak;
    std::vector<kernels::NodeIndex> moved;
    moved.reserve(nodes.size());
    for (const KernelUnit unit : order) {
      moved.push_back(nodes[as_index(unit)]);
      report.order.push_back(units.first_op(unit));
    }
    nodes = std::move(moved);
  }
  return nodes;
}

}  // namespace

std::string_view to_string(KernelLimit limit) {
  using enum KernelLimit;
  switch (limit) {
    case hidden:
      return "hidden";
    case collective_order:
      return "collective_order";
    case data_dependency:
      return "data_dependency";
    case waits_exposed:
      return "waits_exposed";
    case candidate_exposed:
      return "candidate_exposed";
    case group_exposed:
      return "group_exposed";
    case collective_ahead:
      return "collective_ahead";
    case memory:
      return "memory";
    case none:
      break;
  }
  return "none";
}

std::string limit_sentence(const KernelPassMove& move, std::string_view name) {
  const auto with_why = [&](std::string text) {
    return move.why.empty() ? text + "." : fmt::format("{}: {}.", text, move.why);
  };
  using enum KernelLimit;
  switch (move.limit) {
    case hidden:
      return "Compute hides it.";
    case collective_order:
      return with_why(fmt::format("It keeps its order with the collective {}", name));
    case data_dependency:
      return fmt::format("{}, {}, is tied to it by data and cannot move along.", name, move.why);
    case waits_exposed:
      return with_why(fmt::format(
          "If it moved past {}, waits would lose more overlap than it would gain", name));
    case candidate_exposed:
      return with_why(
          fmt::format("If it moved past {}, the collective of that kernel would be exposed "
                      "for longer",
                      name));
    case group_exposed:
      return with_why(fmt::format(
          "If it moved past {}, collectives would lose more overlap than it would gain", name));
    case collective_ahead:
      return with_why(fmt::format("{} is a collective, which waits do not pass", name));
    case memory:
      return with_why(fmt::format("If it moved past {}, the peak would exceed the budget", name));
    case none:
      break;
  }
  return "Nothing stopped it.";
}

std::vector<KernelPass> kernel_passes() {
  return {raise_comms_kernel_pass(), reorder_communication_preserving_peak_memory_kernel_pass(),
          reorder_compute_for_overlap_kernel_pass(), sink_waits_kernel_pass(),
          sink_waits_iterative_kernel_pass()};
}

Result<OrderedKernels> order_kernels(const kernels::Ir& ir, TorchVersion torch,
                                     const Pipeline& passes, std::span<const double> ms_of_op) {
  JOINTER_TRY(const std::vector<CheckedPass> checked, checked_passes(passes));
  OrderedKernels result;
  result.kernels = kernels::schedule(
      ir, torch,
      [&](const kernels::Scheduling& scheduling, std::span<const kernels::NodeIndex> nodes) {
        return run_passes(scheduling, nodes, checked, torch, ms_of_op, result.reports);
      });
  return result;
}

}  // namespace jointer
