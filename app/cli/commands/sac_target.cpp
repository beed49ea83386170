#include "app/cli/commands/sac_target.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/cli/commands/checks.h"
#include "app/cli/commands/table.h"
#include "app/cli/commands/unused_options.h"
#include "core/base/byte_units.h"
#include "core/base/counted.h"
#include "core/base/units.h"

namespace jointer::cli {
namespace {

using enum Table::Align;

MoveUnit unit_of(const TargetOptions& options) {
  if (options.same_in_all_layers) return MoveUnit::all_layers;
  return options.by == "operator" ? MoveUnit::op
         : options.by == "layer"  ? MoveUnit::layer
                                  : MoveUnit::tensor;
}

std::string best_text(const TargetAnswer& answer) {
  const Figures& best = figures_of(answer.best.point);
  const Figures& own = answer.order.figures;
  std::string text = fmt::format("{}, {}", format_bytes(best.peak_bytes), format_ns(best.step_ns));
  if (!answer.best.fits) return text + "; no plan was found that fits";
  if (answer.is_reached() && best.step_ns < own.step_ns)
    text += fmt::format(", a step {} shorter",
                        format_percent(static_cast<double>(own.step_ns - best.step_ns) /
                                       static_cast<double>(own.step_ns)));
  return text;
}

}  // namespace

void TargetOptions::add_to(CLI::App& command) {
  const HelpGroup group(command, "Shortest list of changes");
  command
      .add_option(
          "--free", free,
          "Free this much of the peak with the shortest list of changes found; with one of the "
          "options below, --budget BYTES also produces a list")
      ->type_name("BYTES");
  command.add_option("--at-most", at_most, "Maximum number of changes in the list")
      ->type_name("N")
      ->check(whole_number(1));
  set_choices(command.add_option("--by", by,
                                 "Unit of a change: one tensor, the results of all calls of an "
                                 "operator, or a whole layer"),
              {"tensor", "operator", "layer"});
  command.add_flag("--same-in-all-layers", same_in_all_layers,
                   "With --by tensor: change the same tensor in all layers at once");
  command.add_flag("--no-recompute", no_recompute, "List no changes that recompute");
}

bool TargetOptions::has_conditions(const CLI::App& command) const {
  return at_most || same_in_all_layers || no_recompute || command.count("--by") > 0;
}

Result<std::int64_t> TargetOptions::free_bytes() const {
  return bytes_of_option("--free", free, "a size such as 5GiB");
}

Result<PlanTarget> TargetOptions::target(const CLI::App& command, bool no_offload) const {
  if (same_in_all_layers && by != "tensor")
    return fail(Error::Kind::usage, "option --same-in-all-layers: needs --by tensor; --by {} {}",
                by,
                by == "layer" ? "changes one whole layer at a time"
                              : "already changes an operator in all layers");
  if (no_recompute && no_offload)
    return fail(Error::Kind::usage,
                "options --no-recompute and --no-offload cannot be used together: no changes would "
                "be allowed");
  JOINTER_CHECK(refuse_options(command, {"--pareto"},
                               "cannot be used with a list of changes, which has a single limit"));
  return PlanTarget{
      .moves = {.unit = unit_of(*this), .recompute = !no_recompute, .offload = !no_offload},
      .at_most = at_most};
}

std::string TargetAnswer::why_not_reached() const {
  return jointer::why_not_reached(list, order, target);
}

Json to_json(const TargetAnswer& answer, const Graph& graph) {
  const ChangeList& list = answer.list;
  Json json;
  json["reached"] = answer.is_reached();
  json["limit_bytes"] = answer.target.peak_bytes;
  json["before"] = {{"peak_bytes", list.before.figures.peak_bytes},
                    {"step_ms", to_ms(list.before.figures.step_ns)}};
  Json& rows = json["list"] = Json::array();
  for (const ListedChange& each : list.changes) {
    Json nodes = Json::array();
    for (const NodeId node : each.move.nodes()) nodes.push_back(graph.name(node));
    rows.push_back({{"change", to_text(each.move, graph)},
                    {"module", each.move.module},
                    {"nodes", std::move(nodes)},
                    {"from", to_string(each.move.from)},
                    {"to", to_string(each.move.to)},
                    {"bytes", each.move.bytes()},
                    {"peak_bytes", each.after.figures.peak_bytes},
                    {"step_ms", to_ms(each.after.figures.step_ns)}});
  }
  // If false, a shorter list may exist.
  json["is_shortest"] = list.is_shortest;
  const Figures& best = figures_of(answer.best.point);
  json["best"] = {{"reached", answer.best.fits},
                  {"peak_bytes", best.peak_bytes},
                  {"step_ms", to_ms(best.step_ns)}};
  if (!answer.best.point.order.empty()) json["best"]["order"] = answer.best.point.order;
  if (!answer.is_reached()) json["reason"] = answer.why_not_reached();
  return json;
}

void print_table(const TargetAnswer& answer, const Graph& graph) {
  const ChangeList& list = answer.list;
  Table table({{"change", left},
               {"module", left},
               {"bytes", right},
               {"peak memory", right},
               {"step", right},
               {"longer by", right}});
  std::int64_t step_ns = list.before.figures.step_ns;
  const auto add = [&](std::string change, std::string module, std::string bytes,
                       const PlanFigures& figures) {
    const std::int64_t longer =
        figures.figures.step_ns - std::exchange(step_ns, figures.figures.step_ns);
    table.add({std::move(change), std::move(module), std::move(bytes),
               format_bytes(figures.figures.peak_bytes), format_ns(figures.figures.step_ns),
               longer == 0 ? std::string() : format_ns(longer)});
  };
  add("none", "", "", list.before);
  for (const ListedChange& each : list.changes)
    add(to_text(each.move, graph), each.move.module, format_bytes(each.move.bytes()), each.after);
  fmt::print("\n{}", table.text());
  if (!answer.order.passes.empty())
    fmt::print("In the order found for it, the plan has a peak of {} and a step of {}.\n",
               format_bytes(answer.order.figures.peak_bytes),
               format_ns(answer.order.figures.step_ns));
  if (answer.is_reached() && list.changes.empty() && !list.is_reached)
    fmt::print("The peak is within {} after reordering, without changes.\n",
               format_bytes(answer.target.peak_bytes));
  else if (answer.is_reached())
    fmt::print("The peak is within {} after {}{}.\n", format_bytes(answer.target.peak_bytes),
               counted(list.changes.size(), "change"),
               !list.is_reached   ? " and reordering; a shorter list may exist"
               : list.is_shortest ? ", the shortest list"
                                  : "; a shorter list may exist");
  fmt::print("Best plan without these conditions: {}.\n", best_text(answer));
}

}  // namespace jointer::cli
