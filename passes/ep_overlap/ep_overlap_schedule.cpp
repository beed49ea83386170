// Orders the two chunks of every chunked MoE module so that one chunk's compute runs while the
// other chunk's tokens are exchanged. For each module and direction, a schedule (region_schedule.h)
// determines the order of the nodes. Other nodes stay, or move directly after the nodes that they
// depend on. Copies of token counts to the host become non-blocking, except for the last copy of
// each group. Waits for exchanges are marked as such (EP_token_exchange_wait).
//
// ep_overlap_validate computes the same schedules and fails if one does not exist, but changes
// nothing.
//
// Cost: linear in the size of the graph, plus the cost of the schedules.
//
// Source: torchtitan 0.3.0, experiments/graph_trainer/ep_overlap_pass.py. Deviations:
//  - Regions are read directly from `custom`, where eager chunking writes them, without an import
//    pass.
//  - Writes and effects stay in order, too (core/graph/dependencies.h). The pass refuses a graph if
//    that is impossible.
//  - ep_overlap_validate with require_all_to_all refuses graphs without token exchanges in chunked
//    modules, whereas upstream refuses every graph.
//  - ep_overlap_validate does not mark waits.

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/counted.h"
#include "core/graph/dependencies.h"
#include "core/graph/effects.h"
#include "core/schedule/stable_order.h"
#include "passes/ep_overlap/ep_overlap.h"
#include "passes/ep_overlap/region_schedule.h"
#include "passes/support/parameters.h"
#include "passes/support/unknown_name.h"

namespace jointer {
namespace {

using Why = RegionSchedule::Place::Why;

struct Planned {
  ChunkedRegions regions;
  std::vector<RegionSchedule> schedules;  // by region
  std::size_t scheduled = 0;              // number of schedules with an exchange
};

// Error (usage): the graph has chunked modules, but the pattern matches none.
Result<void> refuse_if_others_are_chunked(const Graph& graph, Annotations& marks,
                                          std::string_view pattern) {
  JOINTER_TRY(const ChunkedRegions all, find_chunked_regions(graph, marks, "*"));
  std::vector<std::string_view> roots;
  for (const ChunkedRegion& each : all.regions)
    if (std::ranges::find(roots, each.root) == roots.end()) roots.emplace_back(each.root);
  if (roots.empty()) return {};
  return unknown_name("module_pattern", "chunked module", pattern, roots);
}

Result<Planned> plan(const Graph& graph, const Arguments& arguments) {
  const std::string& pattern = arguments.text("module_pattern");
  Annotations marks(graph);
  const Users users(graph);
  Planned planned;
  JOINTER_TRY(planned.regions, find_chunked_regions(graph, marks, pattern));
  if (planned.regions.regions.empty() && pattern != kMoeModules)
    JOINTER_CHECK(refuse_if_others_are_chunked(graph, marks, pattern));
  for (std::size_t i = 0; i < planned.regions.regions.size(); ++i) {
    JOINTER_TRY(RegionSchedule schedule,
                schedule_region(graph, users, marks, planned.regions, i,
                                arguments.boolean("pair_first_token_exchange")));
    if (!schedule.places.empty()) ++planned.scheduled;
    planned.schedules.push_back(std::move(schedule));
  }
  if (planned.scheduled == 0 && arguments.boolean("require_all_to_all"))
    return fail(Error::Kind::usage,
                "no module that matches {} is chunked and exchanges tokens; run ep_overlap_chunk "
                "first, or use eager chunking for the capture",
                pattern);
  return planned;
}

std::string reason(const ChunkedRegion& region, const RegionSchedule& schedule,
                   const ChunkedRegions& regions, const RegionSchedule::Place& place) {
  const auto chunk = regions.owner(place.node).chunk;
  const std::string exchange =
      fmt::format("{} {} of {}", schedule.labels[place.exchange], place.exchange + 1, region.root);
  switch (place.why) {
    case Why::setup:
      return fmt::format("{} depends on it in chunk {}.", exchange, chunk);
    case Why::sync:
      return fmt::format(
          "The host needs the token counts before {}; it waits only after all copies have started.",
          exchange);
    case Why::exchange:
      return fmt::format("It starts {} for chunk {}; compute of the other chunk overlaps with it.",
                         exchange, chunk);
    case Why::filler:
      return fmt::format("It is ready during {} and does not depend on exchanges in flight.",
                         exchange);
    case Why::tail:
      break;
  }
  return fmt::format("It runs after the last exchange of {}.", region.root);
}

// Sets `non_blocking` of the call.
void set_non_blocking(Graph& graph, NodeId id, bool value) {
  Node& n = graph.node(id);
  const auto children = graph.children(n.kwargs);
  std::vector<Argument> kwargs(children.begin(), children.end());
  bool is_there = false;
  for (std::size_t i = 0; i + 1 < kwargs.size(); i += 2)
    if (graph.text(kwargs[i].text()) == "non_blocking") {
      kwargs[i + 1] = Argument::of_bool(value);
      is_there = true;
    }
  if (!is_there) {
    kwargs.push_back(Argument::of_text(Argument::Kind::string, graph.intern("non_blocking")));
    kwargs.push_back(Argument::of_bool(value));
  }
  n.kwargs = graph.make_children(Argument::Kind::dict, kwargs);
  n.set(Node::has_kwargs);
  graph.refresh(id);
}

// Renames the annotation that the wait inherits from its exchange, so that only calls that start
// exchanges have EP_token_exchange.
Result<void> mark_wait(Graph& graph, NodeId id) {
  Node& node = graph.node(id);
  if (!node.custom) return {};
  JOINTER_TRY(OrderedJson custom, parse_json(graph.text(node.custom), "custom"));
  const auto phase = custom.find("EP_token_exchange");
  if (phase == custom.end()) return {};
  const OrderedJson said = *phase;
  custom.erase("EP_token_exchange");
  custom["EP_token_exchange_wait"] = said;
  node.custom = graph.intern(write_json(custom));
  return {};
}

// True if the dependency exists only because of a symbol in the original module that no call
// introduces any more. The first call that contains that symbol does not define it, so other calls
// do not depend on that call.
bool names_lost_symbol(const Graph& graph, const Dependency& dependency, NodeId of) {
  const Node& first = graph.node(dependency.node);
  if (dependency.kind != DependencyKind::control || first.kind != NodeKind::call) return false;
  const OperatorInfo& op = graph.op(first);
  return op.known && !op.has(OperatorTag::data_dependent) && !op.has(OperatorTag::dynamic_shape) &&
         first.value.kind != Value::Kind::symbol &&
         !effects_of(graph, first).conflict(effects_of(graph, graph.node(of)));
}

Result<void> run_schedule(Graph& graph, const Arguments& arguments, PassContext& context) {
  JOINTER_TRY(const Planned planned, plan(graph, arguments));
  if (planned.scheduled == 0) {
    context.decide("kept", fmt::format("No module that matches {} is chunked and exchanges tokens.",
                                       arguments.text("module_pattern")));
    return context.report(1);
  }
  JOINTER_CHECK(context.report(0.5));
  std::vector<OrderEdge> edges;
  for (std::size_t r = 0; r < planned.schedules.size(); ++r) {
    const RegionSchedule& schedule = planned.schedules[r];
    const ChunkedRegion& region = planned.regions.regions[r];
    for (std::size_t i = 0; i < schedule.places.size(); ++i) {
      if (i > 0) edges.push_back({schedule.places[i - 1].node, schedule.places[i].node});
      context.decide(graph, schedule.places[i].node, "scheduled",
                     reason(region, schedule, planned.regions, schedule.places[i]));
    }
    for (const NodeId wait : schedule.waits) JOINTER_CHECK(mark_wait(graph, wait));
    for (std::size_t i = 0; i < schedule.copies.size(); ++i) {
      set_non_blocking(graph, schedule.copies[i], !schedule.is_blocking[i]);
      context.decide(graph, schedule.copies[i], "changed",
                     schedule.is_blocking[i]
                         ? "The host waits for this copy, and thus for the copies before it."
                         : "The host waits for a later copy, which ends after this copy.");
    }
  }
  const Dependencies dependencies(graph);
  const auto is_lost = [&graph](const Dependency& dependency, NodeId of) {
    return names_lost_symbol(graph, dependency, of);
  };
  JOINTER_TRY(std::vector<NodeId> order,
              stable_order(graph, dependencies, graph.order(), edges, is_lost));
  graph.set_order(std::move(order));
  JOINTER_CHECK(graph.finish());
  context.decide("scheduled", fmt::format("{} of {} module bodies (forward or backward) {} tokens.",
                                          planned.scheduled, planned.regions.regions.size(),
                                          planned.scheduled == 1 ? "exchanges" : "exchange"));
  return context.report(1);
}

Result<void> run_validate(Graph& graph, const Arguments& arguments, PassContext& context) {
  JOINTER_TRY(const Planned planned, plan(graph, arguments));
  for (std::size_t r = 0; r < planned.schedules.size(); ++r) {
    const ChunkedRegion& region = planned.regions.regions[r];
    context.decide("valid",
                   fmt::format("{} ({}): {} in each chunk.", region.root, region.direction(),
                               counted(planned.schedules[r].exchanges, "token exchange")));
  }
  if (planned.schedules.empty())
    context.decide("valid", fmt::format("No module that matches {} is chunked.",
                                        arguments.text("module_pattern")));
  return context.report(1);
}

std::vector<Parameter> parameters() {
  return {text("module_pattern", std::string(kMoeModules),
               "Pattern (fnmatch) for the names of chunked modules: layers.*.moe or layers.*."),
          flag("require_all_to_all", false, "Fail if no chunked module exchanges tokens."),
          flag("pair_first_token_exchange", true,
               "Prepare both chunks before either starts its first exchange; torchtitan does so "
               "for layers.*.moe.")};
}

}  // namespace

Pass ep_overlap_schedule_pass() {
  return {.info = {.name = "ep_overlap_schedule",
                   .summary = "Runs one chunk's compute in an MoE module while the other chunk's "
                              "tokens are exchanged.",
                   .source = "torchtitan/experiments/graph_trainer/ep_overlap_pass.py",
                   .stage = PassStage::reordering,
                   .parameters = parameters(),
                   .is_idempotent = true},
          .run = run_schedule};
}

Pass ep_overlap_validate_pass() {
  return {.info = {.name = "ep_overlap_validate",
                   .summary = "Reports whether the chunks of MoE modules can overlap.",
                   .source = "torchtitan/experiments/graph_trainer/ep_overlap_pass.py",
                   .stage = PassStage::check,
                   .parameters = parameters(),
                   .is_idempotent = true},
          .run = run_validate};
}

}  // namespace jointer
