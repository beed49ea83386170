#include "app/cli/commands/plan_comparison.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/cli/commands/figures.h"
#include "app/cli/commands/table.h"
#include "core/base/units.h"
#include "core/graph/layers.h"
#include "core/partition/captured_figures.h"
#include "core/partition/partition.h"
#include "core/partition/partitioned_values.h"
#include "core/policy/apply_step_tags.h"

namespace jointer::cli {
namespace {

using enum Table::Align;

Result<KnownPlan> plan_of_joint(std::string name, const Graph& graph,
                                const EstimatorOptions& options, const MemoryOptions& memory) {
  JOINTER_TRY(Partition made, partition(graph, {}));
  JOINTER_TRY(const std::unique_ptr<Estimator> estimator, options.make(made.joint));
  const std::vector<NodeCost> costs = estimate_all(made.joint, *estimator);
  const PlanWhatIf what_if(made.joint, costs, flops_of(made.joint), memory, {},
                           {.transfers = estimator->transfer_costs()});
  KnownPlan known{.name = std::move(name), .graph = {}, .rows = {}, .figures = {}};
  JOINTER_TRY(known.rows, plan_rows(what_if, made.plan));
  JOINTER_TRY(known.figures, what_if.figures(made.plan));
  known.graph = std::move(made.joint);
  return known;
}

// True if a value of `plan` has a counterpart in the graph of `other`, or if the plan has no
// values.
bool shares_names(const KnownPlan& plan, const KnownPlan& other) {
  return plan.rows.empty() || std::ranges::any_of(plan.rows, [&](const PlanRow& row) {
           return bool(other.graph.find(plan.graph.name(row.node)));
         });
}

void add_amounts(Json& json, const PlanAmounts& change) {
  json["saved_bytes"] = change.saved_bytes;
  json["offloaded_bytes"] = change.offloaded_bytes;
  json["recompute_ms"] = to_ms(change.recompute_ns);
}

Json transitions_json(const std::vector<PlanTransition>& all) {
  Json rows = Json::array();
  for (const PlanTransition& each : all) {
    Json row{{"from", action_json(each.from)}, {"to", action_json(each.to)}, {"count", each.count}};
    add_amounts(row, each.change);
    rows.push_back(std::move(row));
  }
  return rows;
}

Json groups_json(const PlanDifference& difference, PlanGrouping grouping) {
  Json rows = Json::array();
  for (const PlanChangeGroup& group : groups(difference, grouping)) {
    Json row;
    if (grouping == PlanGrouping::layer) {
      const std::int64_t layer = difference.rows[group.rows.front()].layer;
      row["layer"] = layer == Layers::kNone ? Json() : Json(layer);
    } else {
      row["target"] = group.name;
    }
    row["count"] = group.moved;
    add_amounts(row, group.change);
    row["transitions"] = transitions_json(transitions(difference, group.rows));
    rows.push_back(std::move(row));
  }
  return rows;
}

// The amounts as cells of a table row. The cell of a zero amount is empty.
std::vector<std::string> amount_cells(const PlanAmounts& change) {
  const auto cell = [](std::int64_t amount, std::string (*format)(std::int64_t)) {
    return amount == 0 ? std::string() : signed_text(amount, format);
  };
  return {cell(change.saved_bytes, format_bytes), cell(change.offloaded_bytes, format_bytes),
          cell(change.recompute_ns, format_ns)};
}

constexpr const char *kSaved = "saved", *kHost = "on the host", *kTime = "recomputed";

// The groups to print. Adjacent layers with the same changes are one group: "layer 0..31 x32".
std::vector<PlanChangeGroup> shown_groups(const PlanDifference& difference, PlanGrouping grouping) {
  if (grouping != PlanGrouping::layer) return groups(difference, grouping);
  std::vector<PlanChangeGroup> shown;
  for (PlanChangeLayers& layers : folded_layers(difference)) {
    PlanChangeGroup& group = shown.emplace_back(std::move(layers.all));
    if (const auto members = static_cast<std::int64_t>(layers.members); members > 1)
      group.name += fmt::format("..{} x{}", layers.first + members - 1, members);
  }
  return shown;
}

void print_groups(const PlanDifference& difference, PlanGrouping grouping, std::size_t top) {
  const std::vector<PlanChangeGroup> all = shown_groups(difference, grouping);
  Table table({{grouping == PlanGrouping::layer ? "layer" : "operator", left},
               {kSaved, right},
               {kHost, right},
               {kTime, right},
               {"changes", left}});
  for (std::size_t i = 0; i < std::min(top, all.size()); ++i) {
    std::string changes = counts_text(difference, all[i].rows);
    std::vector<std::string> cells{all[i].name};
    std::ranges::move(amount_cells(all[i].change), std::back_inserter(cells));
    cells.push_back(std::move(changes));
    table.add(std::move(cells));
  }
  if (!table.empty()) fmt::print("\n{}", table.text());
  print_rest(all.size(), top);
}

void print_values(const PlanDifference& difference, std::size_t top) {
  std::vector<const PlanChangeRow*> largest;
  for (const PlanChangeRow& row : difference.rows) largest.push_back(&row);
  std::ranges::stable_sort(largest, std::ranges::greater(), [](const PlanChangeRow* row) {
    return std::tuple(
        row->moved(),
        std::max(std::abs(row->change.saved_bytes), std::abs(row->change.offloaded_bytes)),
        std::abs(row->change.recompute_ns));
  });
  Table table({{"value", left},
               {"was", left},
               {"is", left},
               {kSaved, right},
               {kHost, right},
               {kTime, right},
               {"operator", left},
               {"module", left}});
  for (std::size_t i = 0; i < std::min(top, largest.size()); ++i) {
    const PlanChangeRow& row = *largest[i];
    std::vector<std::string> cells{row.name, std::string(to_text(row.from)),
                                   std::string(to_text(row.to))};
    std::ranges::move(amount_cells(row.change), std::back_inserter(cells));
    cells.push_back(row.target);
    cells.push_back(row.module);
    table.add(std::move(cells));
  }
  if (!table.empty()) fmt::print("\n{}", table.text());
  print_rest(largest.size(), top);
}

}  // namespace

Json action_json(MaybeAction action) {
  return action ? Json(to_string(*action)) : Json();
}

Result<PlanFigures> captured_figures(const Graph& graph, const EstimatorOptions& estimator,
                                     const MemoryOptions& memory) {
  JOINTER_TRY(const std::unique_ptr<Estimator> made, estimator.make(graph));
  const std::vector<NodeCost> costs = estimate_all(graph, *made);
  JOINTER_TRY(const std::vector<SaveCandidate> decided,
              partitioned_values(graph, costs, flops_of(graph)));
  return captured_figures(graph, costs, decided, memory);
}

Result<KnownPlan> own_plan(std::string name, Graph graph, const EstimatorOptions& estimator,
                           const MemoryOptions& memory) {
  const CaptureKind kind = graph.part(PartId(0)).kind;
  if (!graph.is_pair() && kind == CaptureKind::joint)
    return plan_of_joint(std::move(name), graph, estimator, memory);
  Graph applied = graph;
  if (!graph.is_pair() && kind == CaptureKind::train_step) JOINTER_CHECK(apply_step_tags(applied));
  JOINTER_TRY(const std::unique_ptr<Estimator> made, estimator.make(applied));
  const std::vector<NodeCost> costs = estimate_all(applied, *made);
  JOINTER_TRY(const std::vector<SaveCandidate> decided,
              partitioned_values(applied, costs, flops_of(applied)));
  KnownPlan known{.name = std::move(name),
                  .rows = plan_rows(applied, decided, graph),
                  .figures = captured_figures(applied, costs, decided, memory)};
  known.graph = std::move(graph);
  return known;
}

Result<PlanComparison> compare_plans(KnownPlan before, KnownPlan after) {
  if (!shares_names(before, after) && !shares_names(after, before))
    return fail(Error::Kind::usage,
                "the plans of {} and {} cannot be compared: no value has the same name in both "
                "graphs; choose two captures of the same model",
                before.name, after.name);
  PlanDifference difference =
      plan_difference({before.graph, before.rows}, {after.graph, after.rows});
  return PlanComparison{std::move(before), std::move(after), std::move(difference)};
}

std::optional<Result<PlanComparison>> compare_own_plans(
    const std::pair<std::string, const Graph&>& before,
    const std::pair<std::string, const Graph&>& after, const EstimatorOptions& estimator,
    const MemoryOptions& memory) {
  const auto compare = [&]() -> Result<PlanComparison> {
    JOINTER_TRY(KnownPlan first, own_plan(before.first, before.second, estimator, memory));
    JOINTER_TRY(KnownPlan second, own_plan(after.first, after.second, estimator, memory));
    return compare_plans(std::move(first), std::move(second));
  };
  Result<PlanComparison> compared = compare();
  if (compared && compared->difference.empty()) return std::nullopt;
  return compared;
}

Json to_json(const Result<PlanComparison>& comparison) {
  return comparison ? to_json(*comparison) : Json{{"error", comparison.error().message}};
}

Json to_json(const PlanComparison& comparison) {
  const auto& [before, after, difference] = comparison;
  Json json;
  json["plans"] = {before.name, after.name};
  json["changed"] = difference.moved();
  json["summary"] = summary(difference);
  const auto both = [](auto a, auto b) { return Json::array({a, b}); };
  const PlanFigures &a = before.figures, &b = after.figures;
  json["figures"] = {
      {"peak_bytes", both(a.figures.peak_bytes, b.figures.peak_bytes)},
      {"step_ms", both(to_ms(a.figures.step_ns), to_ms(b.figures.step_ns))},
      {"exposed_ms", both(to_ms(a.figures.exposed_ns), to_ms(b.figures.exposed_ns))},
      {"saved_storage_bytes", both(a.saved_bytes, b.saved_bytes)},
      {"offloaded_bytes", both(a.offloaded_bytes, b.offloaded_bytes)},
      {"recompute_ms", both(to_ms(a.recompute_ns), to_ms(b.recompute_ns))},
  };
  json["transitions"] = transitions_json(transitions(difference));
  json["by_layer"] = groups_json(difference, PlanGrouping::layer);
  json["by_operator"] = groups_json(difference, PlanGrouping::target);
  Json& values = json["values"] = Json::array();
  for (const PlanChangeRow& row : difference.rows) {
    Json value{{"node", row.name},
               {"target", row.target},
               {"module", row.module},
               {"layer", row.layer == Layers::kNone ? Json() : Json(row.layer)},
               {"from", action_json(row.from)},
               {"to", action_json(row.to)}};
    add_amounts(value, row.change);
    values.push_back(std::move(value));
  }
  return json;
}

void print_plan_figures(const PlanComparison& comparison) {
  const auto& [before, after, difference] = comparison;
  fmt::print("\n{}.\n", summary(difference));
  const PlanFigures &a = before.figures, &b = after.figures;
  ComparedFigures figures(before.name, after.name);
  figures.add("peak memory", a.figures.peak_bytes, b.figures.peak_bytes, format_bytes);
  figures.add("step", a.figures.step_ns, b.figures.step_ns, format_ns);
  figures.add("exposed", a.figures.exposed_ns, b.figures.exposed_ns, format_ns);
  figures.add(kSaved, a.saved_bytes, b.saved_bytes, format_bytes);
  figures.add(kHost, a.offloaded_bytes, b.offloaded_bytes, format_bytes);
  figures.add(kTime, a.recompute_ns, b.recompute_ns, format_ns);
  fmt::print("{}", figures.table().text());
}

void print_plan_comparison(const PlanComparison& comparison, std::size_t top) {
  const PlanDifference& difference = comparison.difference;
  print_plan_figures(comparison);
  print_groups(difference, PlanGrouping::layer, top);
  print_groups(difference, PlanGrouping::target, top);
  print_values(difference, top);
}

}  // namespace jointer::cli
