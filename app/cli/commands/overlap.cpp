// jointer overlap FILE: simulates the training step and shows which communication is exposed, and
// why.

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/cli/commands/checks.h"
#include "app/cli/commands/commands.h"
#include "app/cli/commands/options.h"
#include "app/cli/commands/overlap_text.h"
#include "app/cli/commands/table.h"
#include "core/base/counted.h"
#include "core/base/units.h"
#include "core/compiled/compiled_step.h"
#include "core/cost/collective_model.h"
#include "core/cost/unknown_rates.h"
#include "core/schedule/analysis.h"

namespace jointer::cli {
namespace {

struct OverlapCommand {
  GraphOptions graph;
  EstimatorOptions estimator;
  ExecutionOption execution;
  std::size_t top = 20;
  bool one_stream = false, text = false, json = false;
};

struct GroupTimes {
  std::int64_t communication = 0, exposed = 0;
  std::size_t count = 0, hidden = 0;
};

// Times per stream, indexed like the simulation's streams.
std::vector<GroupTimes> times_by_stream(const Simulation& simulation) {
  std::vector<GroupTimes> times(simulation.streams().size());
  for (const CollectiveTiming& c : simulation.collectives()) {
    GroupTimes& t = times[static_cast<std::size_t>(simulation.timing(c.start).stream)];
    t.communication += c.end_ns - c.start_ns;
    t.exposed += c.exposed_ns;
    ++t.count;
    t.hidden += c.is_exposed() ? 0 : 1;
  }
  return times;
}

// The collectives that the estimate omits, because the estimator has no formula for them or their
// ranks are unknown. A collective of a single rank takes no time and is not among them.
std::vector<NodeId> without_time(const Graph& graph, const Simulation& simulation) {
  std::vector<NodeId> nodes;
  for (const CollectiveTiming& c : simulation.collectives())
    if (!c.is_transfer && c.end_ns == c.start_ns &&
        !(c.group && graph.group(c.group).ranks.size() == 1))
      nodes.push_back(c.start);
  return nodes;
}

struct OverlapAnswer {
  const Graph& graph;
  Analysis analysis;
  std::vector<NodeId> without_time;
};

Json to_json(const OverlapAnswer& a) {
  const Simulation& s = a.analysis.simulation;
  const Throughput& rates = a.analysis.throughput;
  const auto optional = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json();
  };
  Json json;
  json["name"] = a.graph.title();
  json["device"] = a.analysis.device.name;
  json["estimator"] = a.analysis.estimator;
  json["execution"] = to_string(a.analysis.options.execution);
  json["step_ms"] = to_ms(s.step_ns());
  json["compute_ms"] = to_ms(s.compute_ns());
  json["communication_ms"] = to_ms(s.communication_ns());
  json["exposed_ms"] = to_ms(s.exposed_ns());
  json["host_bound_ms"] = to_ms(s.host_bound_ns());
  json["hidden_count"] = s.hidden_count();
  json["collective_count"] = s.collective_count();
  Json& groups = json["by_group"] = Json::object();
  const auto times = times_by_stream(s);
  for (std::size_t i = 1; i < times.size(); ++i)
    groups[s.streams()[i].name] = {{"communication_ms", to_ms(times[i].communication)},
                                   {"exposed_ms", to_ms(times[i].exposed)}};
  Json& collectives = json["collectives"] = Json::array();
  for (const CollectiveTiming& c : s.collectives())
    collectives.push_back(
        {{"node", a.graph.name(c.start)},
         {"wait", c.wait ? Json(a.graph.name(c.wait)) : Json()},
         {"group", s.streams()[static_cast<std::size_t>(s.timing(c.start).stream)].name},
         {"bytes", collective_bytes(a.graph, a.graph.node(c.start))},
         {"ms", to_ms(c.end_ns - c.start_ns)},
         {"start_ms", to_ms(c.start_ns)},
         {"end_ms", to_ms(c.end_ns)},
         {"exposed_ms", to_ms(c.exposed_ns)},
         {"reason_kind", to_string(c.reason.kind)},
         {"reason", c.is_exposed() ? Json(reason_text(a.graph, c)) : Json()}});
  json["flops"] = a.analysis.total_flops.total;
  json["tflops"] = optional(rates.tflops);
  json["hardware_tflops"] = rates.hardware_tflops;
  json["mfu"] = optional(rates.mfu);
  json["tokens_per_second"] = optional(rates.tokens_per_second);
  Json& unknown = json["unknown"] = Json::object();
  if (auto why = unknown_tokens(a.graph, a.analysis.model, rates).sentence; !why.empty())
    unknown["tokens_per_second"] = std::move(why);
  if (auto why = unknown_mfu(a.graph, a.analysis.model, rates).sentence; !why.empty())
    unknown["mfu"] = std::move(why);
  Json& without_time = json["without_time"] = Json::array();
  for (const NodeId id : a.without_time) without_time.push_back(a.graph.name(id));
  json["derived"] = a.analysis.model.derived;
  return json;
}

void print_tables(const OverlapAnswer& a, std::size_t top) {
  using enum Table::Align;
  const Simulation& s = a.analysis.simulation;
  const Throughput& rates = a.analysis.throughput;
  fmt::print("{}\n", a.graph.title());
  Table facts({{"", left}, {"", left}});
  facts.add({"estimate", a.analysis.estimator});
  facts.add({"step", format_ns(s.step_ns())});
  facts.add({"compute", format_ns(s.compute_ns())});
  facts.add({"communication", format_ns(s.communication_ns())});
  facts.add(
      {"exposed", fmt::format("{} ({} of {} hidden)", format_ns(s.exposed_ns()), s.hidden_count(),
                              counted(s.collective_count(), "collective"))});
  if (!a.without_time.empty())
    facts.add({"not estimated",
               fmt::format("{} (the estimator has no formula, or the ranks are unknown); counted "
                           "as hidden",
                           counted(a.without_time.size(), "collective"))});
  facts.add({"launch-bound",
             fmt::format("{} (compute waits for the CPU)", format_ns(s.host_bound_ns()))});
  const std::string no_tokens = unknown_tokens(a.graph, a.analysis.model, rates).sentence;
  const std::string no_mfu = unknown_mfu(a.graph, a.analysis.model, rates).sentence;
  facts.add({"tokens/s", rates.tokens_per_second ? format_significant(*rates.tokens_per_second)
                                                 : "unknown: " + no_tokens});
  if (rates.tflops)
    facts.add({"model FLOPs", fmt::format("{}, {} MFU", format_rate(*rates.tflops * 1e12),
                                          format_percent(*rates.mfu))});
  else if (no_mfu != no_tokens)
    facts.add({"model FLOPs", "unknown: " + no_mfu});
  facts.add({"all FLOPs", format_rate(rates.hardware_tflops * 1e12)});
  fmt::print("{}", facts.text());

  if (s.collectives().empty()) return;
  Table groups({{"process group", left},
                {"collectives", right},
                {"hidden", right},
                {"communication", right},
                {"exposed", right}});
  const auto times = times_by_stream(s);
  for (std::size_t i = 1; i < times.size(); ++i)
    groups.add({s.streams()[i].name, format_count(times[i].count), format_count(times[i].hidden),
                format_ns(times[i].communication), format_ns(times[i].exposed)});
  fmt::print("\n{}", groups.text());

  std::vector<const CollectiveTiming*> exposed;
  for (const CollectiveTiming& c : s.collectives())
    if (c.is_exposed()) exposed.push_back(&c);
  std::ranges::stable_sort(exposed, std::ranges::greater(), &CollectiveTiming::exposed_ns);
  if (exposed.empty()) return;
  Table worst({{"exposed collective", left},
               {"group", left},
               {"message", right},
               {"time", right},
               {"exposed", right},
               {"why", left}});
  for (std::size_t i = 0; i < std::min(top, exposed.size()); ++i) {
    const CollectiveTiming& c = *exposed[i];
    worst.add({std::string(a.graph.name(c.start)),
               s.streams()[static_cast<std::size_t>(s.timing(c.start).stream)].name,
               format_bytes(collective_bytes(a.graph, a.graph.node(c.start))),
               format_ns(c.end_ns - c.start_ns), format_ns(c.exposed_ns), reason_text(a.graph, c)});
  }
  fmt::print("\n{}", worst.text());
  print_rest(exposed.size(), top);
}

Result<int> run(const OverlapCommand& options) {
  JOINTER_TRY(const Graph graph, options.graph.open(options.json));
  JOINTER_TRY(const Execution execution, options.execution.of(graph));
  if (options.text && execution != Execution::eager)
    return fail(Error::Kind::usage,
                "option --text: only the calls of a graph that runs operator by operator can be "
                "listed; leave out --execution");
  JOINTER_TRY(Analysis analysis,
              options.execution.analyze(
                  graph, {.memory = {},
                          .estimator = options.estimator.request(),
                          .simulation = {.one_communication_stream = options.one_stream},
                          .execution = execution}));
  OverlapAnswer answer{.graph = graph, .analysis = std::move(analysis), .without_time = {}};
  answer.without_time = without_time(graph, answer.analysis.simulation);
  if (options.text)
    fmt::print("{}", schedule_text(graph, answer.analysis.simulation));
  else if (options.json)
    print_json(to_json(answer));
  else
    print_tables(answer, options.top);
  return ExitCode::done;
}

}  // namespace

void add_overlap_command(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<OverlapCommand>();
  CLI::App* command = program.add_subcommand(
      "overlap", "Simulates the training step, and explains why communication is exposed");
  options->graph.add_to(*command);
  options->estimator.add_to(*command);
  options->execution.add_to(*command);
  options->execution.add_trace_to(*command);
  CLI::Option* top =
      command->add_option("--top", options->top, "List at most N exposed collectives")
          ->type_name("N")
          ->check(whole_number(0));
  command->add_flag("--one-stream", options->one_stream,
                    "Run all collectives on one stream, as torch's scheduler assumes");
  CLI::Option* text = command->add_flag(
      "--text", options->text,
      "List the calls in order, with the communication that overlaps each of them");
  text->excludes(top);
  command->add_flag("--json", options->json, "Print the result as JSON")
      ->excludes(text)
      ->excludes(top);
  command->callback([options, &exit_code] { exit_code = finish(run(*options)); });
}

}  // namespace jointer::cli
