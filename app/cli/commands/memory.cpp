// jointer memory FILE: live bytes in program order, the peak, and what is live at the peak.

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "app/cli/commands/checks.h"
#include "app/cli/commands/commands.h"
#include "app/cli/commands/figures.h"
#include "app/cli/commands/options.h"
#include "app/cli/commands/table.h"
#include "app/cli/commands/training_loop.h"
#include "core/base/bytes.h"
#include "core/base/units.h"
#include "core/capture/memory_snapshot.h"
#include "core/compiled/compiled_step.h"
#include "core/graph/module_tree.h"
#include "core/schedule/caching_allocator.h"
#include "core/schedule/memory_timeline.h"

namespace jointer::cli {
namespace {

struct MemoryCommand {
  GraphOptions graph;
  ExecutionOption execution;
  std::string optimizer = "none", snapshot;
  std::optional<std::size_t> top;
  LoopOptions loop;
  bool torch_compatible = false, profile = false, json = false;
};

struct MemoryAnswer {
  const Graph& graph;
  Execution execution;
  MemoryTimeline timeline;
  ReservedProfile reserved;
  ModuleTree modules;
  std::optional<MemorySnapshot> measured;
  std::optional<TrainingRun> loop;
};

std::string peak_node(const MemoryAnswer& a) {
  const NodeId node = a.timeline.node_at(a.timeline.peak_index());
  return node ? std::string(a.graph.name(node)) : std::string();
}

// The points of a curve, each as [ms, bytes].
Json curve(const std::vector<MeasuredBytes>& points) {
  Json json = Json::array();
  for (const MeasuredBytes& point : points) json.push_back({to_ms(point.ns), point.bytes});
  return json;
}

Json to_json(const MemorySnapshot& s, bool profile) {
  Json json{{"snapshot", s.measurement.label},
            {"device_index", s.device},
            {"entries", s.entries},
            {"peak_bytes", s.peak_bytes},
            {"reserved_peak_bytes", s.reserved_peak_bytes},
            {"begins_before", s.begins_before},
            {"notes", s.measurement.notes}};
  if (profile) {
    json["profile"] = curve(s.measurement.memory_over_time);
    json["reserved_profile"] = curve(s.reserved);
  }
  return json;
}

Json to_json(const MemoryAnswer& a, const MemoryCommand& options) {
  const MemoryTimeline& t = a.timeline;
  Json json;
  json["name"] = a.graph.title();
  json["execution"] = to_string(a.execution);
  json["peak_bytes"] = t.peak_bytes();
  json["peak_index"] = t.peak_index();
  const std::string node = peak_node(a);
  json["peak_node"] = node.empty() ? Json() : Json(node);
  Json& at_peak = json["at_peak"] = Json::object();
  const BytesByCategory bytes = t.at(t.peak_index());
  for (std::size_t c = 0; c < kMemoryCategories; ++c)
    at_peak[std::string(to_string(static_cast<MemoryCategory>(c)))] = bytes[c];
  Json& live = json["live_at_peak"] = Json::array();
  for (const std::size_t i : t.alive_at(t.peak_index())) {
    if (options.top && live.size() >= *options.top) break;
    const Lifetime& l = t.lifetimes()[i];
    live.push_back({{"node", a.graph.name(l.producer)},
                    {"bytes", l.bytes},
                    {"category", to_string(l.category)},
                    {"module", a.modules.module(a.modules.of(l.producer)).path}});
  }
  json["reserved_peak_bytes"] = a.reserved.peak_bytes;
  json["static_bytes"] = t.static_bytes();
  json["steps"] = t.steps().size();
  if (a.measured) json["measured"] = to_json(*a.measured, options.profile);
  if (a.loop) json["loop"] = cli::to_json(*a.loop, a.graph);
  if (options.profile) json["profile"] = std::vector(t.profile().begin(), t.profile().end());
  return json;
}

void print_tables(const MemoryAnswer& a, const MemoryCommand& options) {
  using enum Table::Align;
  const MemoryTimeline& t = a.timeline;
  const std::string node = peak_node(a);
  fmt::print("{}\n", a.graph.title());
  Table facts({{"", left}, {"", left}});
  facts.add({"peak", fmt::format("{} at {} (point {} of {})", format_bytes(t.peak_bytes()),
                                 node.empty() ? "the start" : node, t.peak_index() + 1,
                                 t.profile().size())});
  facts.add({"reserved", fmt::format("{} according to the model of the caching allocator",
                                     format_bytes(a.reserved.peak_bytes))});
  if (a.measured) {
    facts.add({"measured peak", fmt::format("{} ({}, GPU {})", format_bytes(a.measured->peak_bytes),
                                            a.measured->measurement.label, a.measured->device)});
    facts.add({"measured reserved", format_bytes(a.measured->reserved_peak_bytes)});
  }
  facts.add({"live throughout", format_bytes(t.static_bytes())});
  if (a.execution != Execution::eager)
    facts.add({"executed as", execution_text(a.graph, a.execution)});
  if (options.torch_compatible) facts.add({"rules", "torch 2.11's build_memory_profile"});
  fmt::print("{}\n", facts.text());

  const BytesByCategory bytes = t.at(t.peak_index());
  Table categories({{"at the peak", left}, {"bytes", right}, {"share", right}});
  for (std::size_t c = 0; c < kMemoryCategories; ++c)
    if (bytes[c] > 0)
      categories.add(
          {std::string(to_string(static_cast<MemoryCategory>(c))), format_bytes(bytes[c]),
           format_percent(static_cast<double>(bytes[c]) / static_cast<double>(t.peak_bytes()))});
  fmt::print("{}\n", categories.text());

  const std::size_t top = options.top.value_or(20);
  const auto alive = t.alive_at(t.peak_index());
  Table live({{"live at the peak", left}, {"bytes", right}, {"category", left}, {"module", left}});
  std::int64_t rest = 0;
  for (std::size_t i = 0; i < alive.size(); ++i) {
    const Lifetime& l = t.lifetimes()[alive[i]];
    if (i >= top) {
      rest += l.bytes;
      continue;
    }
    live.add({std::string(a.graph.name(l.producer)), format_bytes(l.bytes),
              std::string(to_string(l.category)), a.modules.module(a.modules.of(l.producer)).path});
  }
  fmt::print("{}", live.text());
  if (alive.size() > top)
    fmt::print("  and {} more, {} in total; --top {} shows them\n",
               format_count(alive.size() - top), format_bytes(rest), alive.size());
  if (a.loop) fmt::print("\n{}", loop_table(*a.loop, a.graph));
  if (a.measured)
    for (const std::string& note : a.measured->measurement.notes) fmt::print("note: {}\n", note);
  if (options.profile) {
    fmt::print("\n");
    for (const std::int64_t point : t.profile()) fmt::print("{}\n", point);
  }
}

struct StepMemory {
  MemoryTimeline timeline;
  ReservedProfile reserved;
};

Result<StepMemory> step_memory(const Graph& graph, const MemoryOptions& memory,
                               Execution execution) {
  if (execution == Execution::eager) {
    MemoryTimeline timeline(graph, memory);
    ReservedProfile reserved = simulate_reserved(timeline, timeline.device());
    return StepMemory{std::move(timeline), std::move(reserved)};
  }
  JOINTER_TRY(Analysis analysis, analyze_step(graph, {.memory = memory,
                                                      .estimator = EstimatorOptions().request(),
                                                      .simulation = {},
                                                      .execution = execution}));
  return StepMemory{std::move(analysis.memory), std::move(analysis.reserved)};
}

Result<int> run(const MemoryCommand& options) {
  JOINTER_TRY(const Graph graph, options.graph.open(options.json));
  if (options.torch_compatible && graph.is_pair())
    return fail(Error::Kind::usage,
                "option --torch-compatible: torch's build_memory_profile does not support a pair; "
                "profile each half separately");
  if (options.torch_compatible && options.optimizer != "none")
    return fail(Error::Kind::usage,
                "option --torch-compatible: torch's build_memory_profile does not cover optimizer "
                "state; leave out --optimizer");
  if (options.torch_compatible && options.loop.steps > 0)
    return fail(Error::Kind::usage,
                "option --torch-compatible: torch's build_memory_profile does not cover a training "
                "loop; leave out --loop");
  JOINTER_TRY(const Execution execution, options.execution.of(graph));
  const bool is_eager = execution == Execution::eager;
  if (options.torch_compatible && !is_eager)
    return fail(Error::Kind::usage,
                "option --torch-compatible: torch's build_memory_profile does not cover compiled "
                "steps; leave out --execution");
  if (options.loop.steps > 0 && !is_eager)
    return fail(Error::Kind::usage,
                "option --loop: a training loop is simulated only operator by operator; leave out "
                "--execution");
  MemoryOptions memory = memory_options(options.optimizer);
  if (options.torch_compatible) memory.rules = MemoryRules::torch;
  JOINTER_TRY(StepMemory step, step_memory(graph, memory, execution));
  MemoryAnswer answer{graph,
                      execution,
                      std::move(step.timeline),
                      std::move(step.reserved),
                      ModuleTree(graph),
                      std::nullopt,
                      std::nullopt};
  if (options.loop.steps > 0) {
    JOINTER_TRY(answer.loop, options.loop.run(graph, options.optimizer));
  }
  if (!options.snapshot.empty()) {
    JOINTER_TRY(const PaddedBytes bytes, read_bytes(options.snapshot));
    JOINTER_TRY(answer.measured, read_memory_snapshot(options.snapshot, bytes));
  }
  if (options.json)
    print_json(to_json(answer, options));
  else
    print_tables(answer, options);
  return ExitCode::done;
}

}  // namespace

void add_memory_command(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<MemoryCommand>();
  CLI::App* command = program.add_subcommand(
      "memory", "Shows the memory peak and the tensors that are live at the peak");
  options->graph.add_to(*command);
  command->add_flag("--torch-compatible", options->torch_compatible,
                    "Use the rules of torch 2.11's build_memory_profile, and match it to the byte");
  command->add_flag("--profile", options->profile,
                    "Also print every point of the profile: the start, then two points per call, "
                    "after its allocations and after its releases");
  command
      ->add_option("--snapshot", options->snapshot,
                   "Compare with this memory snapshot from torch.cuda.memory._dump_snapshot")
      ->type_name("FILE");
  command
      ->add_option("--top", options->top, "List at most N of the tensors that are live at the peak")
      ->type_name("N")
      ->check(whole_number(0));
  add_optimizer_option(*command, options->optimizer);
  options->execution.add_to(*command);
  options->loop.add_to(*command);
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([options, &exit_code] { exit_code = finish(run(*options)); });
}

}  // namespace jointer::cli
