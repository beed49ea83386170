// The output of `jointer sac`, as JSON or as tables.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/cli/commands/sac_answer.h"
#include "app/cli/commands/table.h"
#include "core/base/counted.h"
#include "core/base/distinct_bytes.h"
#include "core/base/units.h"
#include "passes/support/communicates.h"

namespace jointer::cli {
namespace {

using enum Table::Align;

Json values(const std::vector<SavedValue>& saved, const Graph& graph) {
  Json rows = Json::array();
  for (const SavedValue& value : saved) {
    Json row{{"node", graph.name(value.node)},
             {"bytes", value.bytes},
             {"storage_bytes", value.storage_bytes},
             {"target", graph.target(graph.node(value.node))},
             {"keep", to_string(value.action)}};
    if (!value.reason.empty()) row["reason"] = value.reason;
    rows.push_back(std::move(row));
  }
  return rows;
}

Json points(const std::vector<ParetoPoint>& pareto) {
  Json rows = Json::array();
  for (const ParetoPoint& point : pareto) {
    Json row;
    row["budget"] = point.budget < 0 ? Json() : Json(point.budget);
    row["peak_bytes"] = point.figures.figures.peak_bytes;
    row["step_ms"] = to_ms(point.figures.figures.step_ns);
    row["saved_storage_bytes"] = point.figures.saved_bytes;
    row["offloaded_bytes"] = point.figures.offloaded_bytes;
    row["recompute_ms"] = to_ms(point.figures.recompute_ns);
    row["bound_ms"] = to_ms(point.bound_ns);
    row["reserved_bytes"] = point.reserved_bytes ? Json(*point.reserved_bytes) : Json();
    if (!point.order.empty()) row["order"] = point.order;
    if (!point.name.empty()) row["name"] = point.name;
    rows.push_back(std::move(row));
  }
  return rows;
}

// The reached and the requested value of the limited quantity, as text with units.
std::array<std::string, 2> limit_texts(const LimitAnswer& limit) {
  if (limit.kind == "peak") return distinct_bytes(std::array{limit.reached, limit.asked});
  return {format_ns(limit.reached), format_ns(limit.asked)};
}

void print_facts(const SacAnswer& a, const Graph& graph) {
  Table facts({{"", left}, {"", left}});
  facts.add({"saved", fmt::format("{}, {} of storage",
                                  counted(a.saved.size() - a.offloaded_count(), "activation"),
                                  format_bytes(a.figures.saved_bytes))});
  if (a.offloaded_count() > 0)
    facts.add({"on the host", fmt::format("{} more, {}", format_count(a.offloaded_count()),
                                          format_bytes(a.figures.offloaded_bytes))});
  facts.add(
      {"recomputed", fmt::format("{}, {}, {}", counted(a.figures.recomputed, "call"),
                                 format_ns(a.figures.recompute_ns),
                                 format_flops(static_cast<double>(a.figures.recompute_flops)))});
  facts.add({"peak memory",
             fmt::format("{} allocated, {} reserved", format_bytes(a.figures.figures.peak_bytes),
                         format_bytes(a.reserved_bytes))});
  facts.add({"step", fmt::format("{}, {} of it exposed", format_ns(a.figures.figures.step_ns),
                                 format_ns(a.figures.figures.exposed_ns))});
  if (a.limit) {
    const std::array<std::string, 2> texts = limit_texts(*a.limit);
    facts.add({"limit", fmt::format("{} {} reached, {} requested",
                                    a.limit->kind == "peak" ? a.limit->memory : a.limit->kind,
                                    texts[0], texts[1])});
  }
  if (a.limit && a.limit->bound_ns > 0)
    facts.add({"lower bound",
               fmt::format("{} for any plan with this peak{}", format_ns(a.limit->bound_ns),
                           a.limit->is_of_any_order ? ", in any order, not counting communication"
                                                    : " in its own order")});
  if (a.limit && !a.limit->is_of_any_order && communicates(graph))
    facts.add({"not searched",
               "orders and buckets; to search them too, use `jointer apply --passes auto_tune`"});
  if (a.order)
    facts.add({"order", fmt::format("{}; {} without", a.order->passes,
                                    format_ns(a.order->without.step_ns))});
  fmt::print("{}\n{}", graph.title(), facts.text());
}

// The storage of all operators adds up to the saved bytes that print_facts prints.
void print_operators(const SacAnswer& a, std::size_t top) {
  Table table({{"operator", left},
               {"saved", right},
               {"storage", right},
               {"on the host", right},
               {"recomputed", right},
               {"time", right},
               {"policy", left}});
  for (std::size_t i = 0; i < std::min(top, a.operators.size()); ++i) {
    const OperatorRow& row = a.operators[i];
    table.add({row.target, format_count(row.saved), format_bytes(row.storage_bytes),
               format_count(row.offloaded), format_count(row.recomputed),
               format_ns(row.recompute_ns), row.policy()});
  }
  if (!table.empty()) fmt::print("\n{}", table.text());
  print_rest(a.operators.size(), top);
}

void print_saved(const SacAnswer& a, const Graph& graph, std::size_t top) {
  std::vector<const SavedValue*> largest;
  for (const SavedValue& value : a.saved) largest.push_back(&value);
  std::ranges::stable_sort(largest, std::ranges::greater(), [](const SavedValue* value) {
    const bool is_offloaded = value->action == PlanAction::offload;
    return std::pair(is_offloaded ? value->bytes : value->storage_bytes, value->bytes);
  });
  Table table(
      {{"saved", left}, {"storage", right}, {"tensor", right}, {"operator", left}, {"why", left}});
  for (std::size_t i = 0; i < std::min(top, largest.size()); ++i)
    table.add({std::string(graph.name(largest[i]->node)), format_bytes(largest[i]->storage_bytes),
               format_bytes(largest[i]->bytes),
               std::string(graph.target(graph.node(largest[i]->node))), largest[i]->reason});
  if (!table.empty()) fmt::print("\n{}", table.text());
  print_rest(largest.size(), top);
}

void print_pareto(const SacAnswer& a) {
  if (a.pareto.points.empty()) return;
  Table table({{"budget", left},
               {"peak memory", right},
               {"reserved", right},
               {"step", right},
               {"at least", right},
               {"saved", right},
               {"on the host", right},
               {"recomputed", right},
               {"order", left}});
  for (const ParetoPoint& point : a.pareto.points)
    table.add({!point.name.empty() ? point.name
               : point.budget >= 0 ? fmt::format("{}", point.budget)
                                   : "searched",
               format_bytes(point.figures.figures.peak_bytes),
               point.reserved_bytes ? format_bytes(*point.reserved_bytes) : std::string(),
               format_ns(point.figures.figures.step_ns), format_ns(point.bound_ns),
               format_bytes(point.figures.saved_bytes), format_bytes(point.figures.offloaded_bytes),
               format_ns(point.figures.recompute_ns),
               point.order.empty() ? "its own" : point.order});
  fmt::print("\n{}", table.text());
}

}  // namespace

Json to_json(const SacAnswer& a, const Graph& graph) {
  Json json;
  json["name"] = graph.title();
  json["saved_count"] = a.saved.size();
  json["saved_bytes"] = a.saved_bytes();
  json["saved_storage_bytes"] = a.figures.saved_bytes;
  json["offloaded_count"] = a.offloaded_count();
  json["offloaded_bytes"] = a.figures.offloaded_bytes;
  json["saved"] = values(a.saved, graph);
  json["saved_inputs"] = values(a.saved_inputs, graph);
  json["saved_symbols"] = a.saved_symbols;
  json["recomputed_count"] = a.figures.recomputed;
  json["recompute_flops"] = a.figures.recompute_flops;
  json["recompute_ms"] = to_ms(a.figures.recompute_ns);
  json["peak_bytes"] = a.figures.figures.peak_bytes;
  json["reserved_bytes"] = a.reserved_bytes;
  json["step_ms"] = to_ms(a.figures.figures.step_ns);
  json["exposed_ms"] = to_ms(a.figures.figures.exposed_ns);
  if (a.order)
    json["order"] = {{"passes", a.order->passes},
                     {"peak_bytes_without", a.order->without.peak_bytes},
                     {"step_ms_without", to_ms(a.order->without.step_ns)},
                     {"exposed_ms_without", to_ms(a.order->without.exposed_ns)}};
  Json& operators = json["by_operator"] = Json::array();
  for (const OperatorRow& row : a.operators)
    operators.push_back({{"target", row.target},
                         {"count", row.saved + row.recomputed + row.offloaded},
                         {"saved_count", row.saved + row.offloaded},
                         {"saved_bytes", row.saved_bytes + row.offloaded_bytes},
                         {"saved_storage_bytes", row.storage_bytes},
                         {"offloaded_count", row.offloaded},
                         {"recompute_ms", to_ms(row.recompute_ns)},
                         {"policy", row.policy()}});
  json["pareto"] = points(a.pareto.points);
  json["budgets"] = points(a.pareto.budgets);
  if (a.limit)
    json["limit"] = {{"kind", a.limit->kind},
                     {"memory", a.limit->memory},
                     {"asked", a.limit->asked},
                     {"reached", a.limit->reached},
                     {"met", a.limit->met}};
  if (a.limit && a.limit->bound_ns > 0) json["limit"]["bound_ms"] = to_ms(a.limit->bound_ns);
  if (a.target) json["target"] = to_json(*a.target, graph);
  if (!a.why.empty()) json["why"] = to_json(a.why, graph);
  if (a.exported)
    json["export"] = {{"text", a.exported->text}, {"misfits", a.exported->differences}};
  if (a.against) json["against"] = to_json(*a.against);
  json["notes"] = a.notes;
  return json;
}

void print_tables(const SacAnswer& a, const Graph& graph, std::size_t top) {
  print_facts(a, graph);
  if (a.target) print_table(*a.target, graph);
  print_operators(a, top);
  print_saved(a, graph, top);
  print_pareto(a);
  print_why(a.why);
  if (a.against) print_plan_comparison(*a.against, top);
  for (const std::string& note : a.notes) fmt::print("note: {}\n", note);
}

}  // namespace jointer::cli
