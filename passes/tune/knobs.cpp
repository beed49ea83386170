#include "passes/tune/knobs.h"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace jointer {
namespace {

// The syntax of `values` is that of a pipeline's text.
Knob knob(std::string_view pass, std::string_view parameter,
          std::initializer_list<std::string_view> values) {
  Knob made{pass, parameter, {}};
  for (const std::string_view value : values)
    made.values.push_back(
        step_of(fmt::format("{}{{{}={}}}", pass, parameter, value)).given.front().second);
  return made;
}

// Grouped by pass.
std::vector<Knob> make_knobs() {
  constexpr std::string_view kAuto = "autobucketing_reordering", kGreedy = "greedy_bucketing_by_mb",
                             kRaise = "reorder_communication_preserving_peak_memory",
                             kSink = "sink_waits_iterative", kPeak = "reorder_for_peak_memory",
                             kPlace = "place_collectives", kSac = "apply_sac",
                             kPolicy = "tag_with_memory_policy", kBudget = "knapsack_budget",
                             kCommunication = "reorder_sink_runtime_estimations_comm_mult";
  return {
      knob(kAuto, "collective_bucketing", {"true", "false"}),
      knob(kAuto, "max_in_flight_gb", {"1", "2", "5", "10"}),
      knob(kAuto, "max_compute_pre_fetch", {"20", "50", "200", "1000"}),
      knob(kAuto, "max_coll_distance", {"50", "200", "500"}),
      knob(kAuto, "compute_overlap_multipler", {"0.5", "0.8", "1", "1.5", "2"}),
      knob(kAuto, "bucket_exposed_first", {"true", "false"}),
      knob(kAuto, "max_bucket_memory_gb", {"0.1", "0.5", "1", "2", "4"}),
      knob(kAuto, "prioritize_bucketing_during_scheduling", {"true", "false"}),
      knob(kGreedy, "bucket_cap_mb", {"25", "50", "100", "250", "500", "1000", "2000"}),
      knob(kGreedy, "all_gather", {"true", "false"}),
      knob(kGreedy, "reduce_scatter", {"true", "false"}),
      knob(kGreedy, "all_reduce", {"true", "false"}),
      knob(kGreedy, "multidtype", {"true", "false"}),
      knob(kRaise, "reorder_iterative_use_runtime_estimations", {"true", "false"}),
      knob(kRaise, "reorder_iterative_extra_comm_comp_overlap", {"0", "0.25", "0.5", "1", "2"}),
      knob(kRaise, "reorder_iterative_peak_memory_budget", {"0", "0.02", "0.2"}),
      knob(kRaise, "reorder_iterative_group_with_collectives", {"true", "false"}),
      knob(kRaise, "reorder_prefetch_limit", {"none", "50", "200", "1000"}),
      knob(kRaise, kCommunication, {"1", "1.5", "2", "3"}),
      knob(kSink, "sink_iterative_use_runtime_estimations", {"true", "false"}),
      knob(kSink, "sink_iterative_extra_comm_comp_overlap", {"0", "0.25", "0.5", "1", "2"}),
      knob(kSink, "sink_iterative_peak_memory_budget", {"0", "0.02", "0.2"}),
      knob(kSink, "sink_waits_iterative_swap_with_collectives", {"true", "false"}),
      knob(kSink, kCommunication, {"1", "1.5", "2", "3"}),
      knob(kPeak, "methods", {"[lpmf,bfs,dfs]", "[lpmf]", "[bfs]", "[dfs]"}),
      knob(kPlace, "rounds", {"1", "2", "4"}),
      knob(kPlace, "most", {"none", "16", "64"}),
      knob(kPlace, "least_gain_us", {"0.5", "2", "10", "50"}),
      knob(kSac, "every_nth",
           {"[]", R"(["aten.mm.default/2"])", R"(["aten.mm.default/3"])",
            R"(["aten.mm.default/4"])", R"(["aten.mm.default/2/layer"])"}),
      knob(kSac, "whole_forward", {"true", "false"}),
      knob(kPolicy, "policy", {"default", "full", "eager"}),
      knob(kPolicy, "reshard", {"true", "false"}),
      knob(kBudget, "budget",
           {"0.05", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "0.95"}),
      knob(kBudget, "solver", {"dp", "greedy"}),
      knob("fastest_plan", "hidden", {"0", "0.5", "0.8", "1"}),
      knob("fastest_plan", "share", {"1", "0.98", "0.95", "0.9", "0.8"}),
      knob("fsdp_reshard_after_fwd", "reshard", {"true", "false"}),
  };
}

}  // namespace

std::span<const Knob> knobs_of(std::string_view pass) {
  static const std::vector<Knob> kKnobs = make_knobs();
  const auto first = std::ranges::find(kKnobs, pass, &Knob::pass);
  const auto last =
      std::find_if(first, kKnobs.end(), [&](const Knob& each) { return each.pass != pass; });
  return {first, last};
}

PipelineStep with_value(PipelineStep step, const Pass& pass, std::string_view parameter,
                        const PassValue& value) {
  constexpr Parameter::Type kNumber = Parameter::Type::number;
  std::vector<std::pair<std::string, PassValue>> given;
  for (const Parameter& declared : pass.info.parameters) {
    const auto was = std::ranges::find_if(
        step.given, [&](const auto& each) { return each.first == declared.name; });
    PassValue held = declared.name == parameter ? value
                     : was == step.given.end()  ? declared.default_value
                                                : was->second;
    // Treats 2 and 2.0 as the same number.
    if (const auto* whole = held.as<std::int64_t>(); whole && declared.type == kNumber)
      held = static_cast<double>(*whole);
    if (!(held == declared.default_value)) given.emplace_back(declared.name, std::move(held));
  }
  step.given = std::move(given);
  return step;
}

PipelineStep step_of(std::string_view text) {
  auto pipeline = parse_pipeline(text);
  if (!pipeline || pipeline->size() != 1) std::abort();  // a bug in this program
  return std::move(pipeline->front());
}

}  // namespace jointer
