// jointer calibrate: stores the times of a profiler trace in the cost database, lists the devices
// with stored times, deletes the times of a device, or probes this machine's CPU.

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>

#include "app/cli/commands/commands.h"
#include "app/cli/commands/interruption.h"
#include "app/cli/commands/options.h"
#include "app/cli/commands/table.h"
#include "app/cli/commands/unused_options.h"
#include "app/launch/cpu_probe.h"
#include "core/base/bytes.h"
#include "core/base/checked.h"
#include "core/base/counted.h"
#include "core/base/units.h"
#include "core/bench/calibrate.h"
#include "core/capture/profiler_trace.h"

namespace jointer::cli {
namespace {

struct CalibrateCommand {
  GraphOptions graph;
  std::string trace, device, forget;
  bool list = false, probe = false, json = false;
};

// Returns a UTC time in ISO 8601 format. A time after the year 9900, as in a damaged database,
// becomes the Unix epoch.
std::string date(std::int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  if (::gmtime_r(&time, &parts) == nullptr || parts.tm_year > 8000) return date(0);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", parts);
}

Result<int> list_devices(bool json) {
  JOINTER_TRY(const CostDatabase database, CostDatabase::open(CostDatabase::default_path()));
  JOINTER_TRY(const std::vector<MeasuredDevice> devices, database.devices());
  if (json) {
    Json list = Json::array();
    for (const MeasuredDevice& d : devices)
      list.push_back({{"name", d.name},
                      {"type", d.type},
                      {"nodes", d.nodes},
                      {"collectives", d.collectives},
                      {"samples", d.samples},
                      {"first_measured", date(d.first_measured)},
                      {"last_measured", date(d.last_measured)}});
    print_json({{"database", database.path()}, {"devices", std::move(list)}});
    return ExitCode::done;
  }
  fmt::print("{}\n", database.path());
  if (devices.empty()) {
    fmt::print("no measured times yet\n");
    return ExitCode::done;
  }
  using enum Table::Align;
  Table table({{"device", left},
               {"type", left},
               {"calls", right},
               {"collectives", right},
               {"samples", right},
               {"first", left},
               {"last", left}});
  for (const MeasuredDevice& d : devices)
    table.add({d.name, d.type, format_count(d.nodes), format_count(d.collectives),
               format_count(d.samples), date(d.first_measured), date(d.last_measured)});
  fmt::print("{}", table.text());
  return ExitCode::done;
}

Result<int> forget_device(const std::string& device, bool json) {
  const std::string path = CostDatabase::default_path();
  // Do not create a database just to delete from it.
  JOINTER_TRY(CostDatabase database, CostDatabase::open(path));
  JOINTER_CHECK(database.load(device));
  JOINTER_TRY(database, CostDatabase::open_or_create(path));
  JOINTER_CHECK(database.forget(device));
  if (json)
    print_json({{"database", path}, {"forgotten", device}});
  else
    fmt::print("{}: deleted the times measured on {}\n", path, device);
  return ExitCode::done;
}

Json to_json(const CpuProbe& probe, const std::string& path) {
  Json ranks = Json::array();
  for (const ProbedRank& rank : probe.ranks) {
    Json levels = Json::array();
    for (const KernelRates::Level& level : rank.kernels.levels)
      levels.push_back({{"bytes", level.bytes}, {"gbps", level.gbps}});
    ranks.push_back({{"threads", rank.threads},
                     {"shares_machine", rank.shares_machine},
                     {"float32_tflops", rank.float32_tflops},
                     {"bfloat16_tflops", rank.bfloat16_tflops},
                     {"memory_gbps", rank.memory_gbps},
                     {"kernel_us", rank.kernels.launch_us},
                     {"product_us", rank.kernels.product_us},
                     {"operator_us", rank.operator_us},
                     {"link_gbps", rank.link_gbps},
                     {"collective_us", rank.collective_us},
                     {"levels", std::move(levels)}});
  }
  return {{"file", path},
          {"processor", probe.processor},
          {"cores", probe.cores},
          {"cache_bytes", probe.cache_bytes},
          {"ranks", std::move(ranks)}};
}

// --probe: measures the rates of this machine's CPU, saves them for estimates and prints them.
Result<int> probe_this_cpu(bool json) {
  const Interruption interruption;
  JOINTER_TRY(const CpuProbe probe, probe_cpu(&Interruption::has_happened));
  const std::string path = cpu_probe_path();
  JOINTER_CHECK(write_cpu_probe(path, probe));
  if (json) {
    print_json(to_json(probe, path));
    return ExitCode::done;
  }
  fmt::print("{}\n{}, {}\n\n", path, probe.processor,
             counted(static_cast<std::size_t>(probe.cores), "core"));
  using enum Table::Align;
  Table table({{"ranks", left},
               {"threads", right},
               {"float32", right},
               {"bfloat16", right},
               {"memory", right},
               {"in cache", right},
               {"call", right},
               {"collective", right}});
  constexpr double kTera = 1e12, kNsPerUs = 1e3;
  const auto us = [](double value) { return format_ns(saturating_round(value * kNsPerUs)); };
  for (const ProbedRank& rank : probe.ranks) {
    double cached = rank.memory_gbps;
    for (const KernelRates::Level& level : rank.kernels.levels)
      cached = std::max(cached, level.gbps);
    table.add({rank.shares_machine ? "two" : "one", format_count(rank.threads),
               format_rate(rank.float32_tflops * kTera), format_rate(rank.bfloat16_tflops * kTera),
               fmt::format("{:.1f} GB/s", rank.memory_gbps), fmt::format("{:.1f} GB/s", cached),
               us(rank.kernels.launch_us), rank.link_gbps > 0 ? us(rank.collective_us) : "-"});
  }
  fmt::print("{}", table.text());
  return ExitCode::done;
}

struct OperatorTime {
  std::string target;
  std::int64_t count = 0, ns = 0;
};

// Times by operator, longest first.
std::vector<OperatorTime> by_operator(const Graph& graph, const Measurement& measurement) {
  std::map<std::string_view, OperatorTime> times;
  for (const MeasuredNode& node : measurement.nodes) {
    if (node.own_ns < 0) continue;
    const std::string_view target = graph.target(graph.node(node.node));
    OperatorTime& time = times[target];
    time.target = target;
    ++time.count;
    time.ns = saturating_add(time.ns, node.own_ns);
  }
  std::vector<OperatorTime> sorted;
  sorted.reserve(times.size());
  for (auto& [target, time] : times) sorted.push_back(std::move(time));
  std::ranges::stable_sort(sorted, std::ranges::greater(), &OperatorTime::ns);
  return sorted;
}

void print_match(const Graph& graph, const TraceMatch& match, const CostSamples& stored) {
  using enum Table::Align;
  const Measurement& m = match.measurement;
  fmt::print("{}\n", graph.title());
  Table facts({{"", left}, {"", left}});
  facts.add({"trace", m.label});
  facts.add({"device", m.device});
  facts.add({"matched", fmt::format("{} of {} in {}", format_count(match.matched),
                                    counted(match.nodes, "node"), counted(match.passes, "run"))});
  facts.add({"step", format_ns(m.step_ns)});
  facts.add({"stored", fmt::format("{} and {}", counted(stored.nodes.size(), "distinct call"),
                                   counted(stored.collectives.size(), "distinct collective"))});
  facts.add({"database", CostDatabase::default_path()});
  fmt::print("{}\n", facts.text());
  Table table({{"operator", left}, {"nodes", right}, {"time", right}});
  const auto operators = by_operator(graph, m);
  constexpr std::size_t kShown = 15;
  for (std::size_t i = 0; i < std::min(kShown, operators.size()); ++i)
    table.add({operators[i].target, format_count(operators[i].count), format_ns(operators[i].ns)});
  fmt::print("{}", table.text());
  if (operators.size() > kShown)
    fmt::print("  and {} more; --json shows them\n", operators.size() - kShown);
  for (const std::string& note : m.notes) fmt::print("note: {}\n", note);
}

Json to_json(const Graph& graph, const TraceMatch& match, const CostSamples& stored) {
  const Measurement& m = match.measurement;
  Json json;
  json["name"] = graph.title();
  json["trace"] = m.label;
  json["device"] = m.device;
  json["device_type"] = m.device_type;
  json["passes"] = match.passes;
  json["nodes"] = match.nodes;
  json["matched"] = match.matched;
  json["timed"] = m.nodes.size();
  json["step_ms"] = to_ms(m.step_ns);
  json["device_ms"] = to_ms(match.device_ns);
  json["foreign_device_ms"] = to_ms(match.foreign_device_ns);
  json["foreign_calls"] = match.foreign_calls;
  Json& operators = json["operators"] = Json::array();
  for (const OperatorTime& time : by_operator(graph, m))
    operators.push_back({{"target", time.target}, {"nodes", time.count}, {"ms", to_ms(time.ns)}});
  json["stored"] = {{"operators", stored.nodes.size()}, {"collectives", stored.collectives.size()}};
  json["database"] = CostDatabase::default_path();
  json["notes"] = m.notes;
  return json;
}

Result<int> run(const CalibrateCommand& options, const CLI::App& command) {
  const bool reads = !options.graph.file.empty() || !options.trace.empty();
  if ((options.list ? 1 : 0) + (options.probe ? 1 : 0) + (options.forget.empty() ? 0 : 1) +
          (reads ? 1 : 0) !=
      1)
    return fail(
        Error::Kind::usage,
        "calibrate needs exactly one of `FILE --trace TRACE`, --list, --forget DEVICE and --probe");
  if (!reads)
    JOINTER_CHECK(refuse_options(command, {"--gpu", "--backward", "--graph", "--assume"},
                                 fmt::format("needs FILE --trace TRACE and has no effect with {}",
                                             options.list    ? "--list"
                                             : options.probe ? "--probe"
                                                             : "--forget")));
  if (options.list) return list_devices(options.json);
  if (options.probe) return probe_this_cpu(options.json);
  if (!options.forget.empty()) return forget_device(options.forget, options.json);
  if (options.graph.file.empty() || options.trace.empty())
    return fail(Error::Kind::usage, "calibrate needs both FILE and --trace TRACE");
  JOINTER_TRY(const Graph graph, options.graph.open(options.json));
  JOINTER_TRY(const PaddedBytes trace, read_bytes(options.trace));
  JOINTER_TRY(const TraceMatch match,
              match_profiler_trace(graph, options.trace, trace, options.device));
  JOINTER_TRY(const CostSamples stored, store(graph, match.measurement));
  if (options.json)
    print_json(to_json(graph, match, stored));
  else
    print_match(graph, match, stored);
  return ExitCode::done;
}

}  // namespace

void add_calibrate_command(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<CalibrateCommand>();
  CLI::App* command = program.add_subcommand(
      "calibrate",
      "Stores the times of a profiler trace for the estimator `measured`, or probes the CPU");
  options->graph.add_to(*command);
  command->get_option("FILE")->required(false);
  command
      ->add_option("--trace", options->trace,
                   "Trace of a run of this graph, exported by torch.profiler: .json, .gz or .zst")
      ->type_name("FILE");
  command
      ->add_option("--gpu", options->device, "Name of the device, in place of the one in the trace")
      ->type_name("NAME");
  command->add_flag("--list", options->list, "List the devices with measured times");
  command->add_option("--forget", options->forget, "Delete the times measured on this device")
      ->type_name("NAME");
  command->add_flag("--probe", options->probe,
                    "Measure the rates of this machine's CPU, and store them for estimates");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback(
      [options, command, &exit_code] { exit_code = finish(run(*options, *command)); });
}

}  // namespace jointer::cli
