#include "app/cli/commands/options.h"

#include <fmt/format.h>

#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "app/cli/commands/checks.h"
#include "core/base/json_text.h"
#include "core/capture/compiled_trace.h"
#include "core/capture/measured_step.h"
#include "core/compiled/compiled_step.h"
#include "core/open/open.h"

namespace jointer::cli {

namespace {

// Escapes control characters. Messages contain names from files, and control characters in them
// could move the cursor or end the line.
std::string printable(const Error& error) {
  std::string text;
  for (const char c : error.message) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f)
      fmt::format_to(std::back_inserter(text), "\\x{:02x}", code);
    else
      text += c;
  }
  return text;
}

}  // namespace

int report(const Error& error) {
  fmt::print(stderr, "jointer: {}\n", printable(error));
  switch (error.kind) {
    case Error::Kind::usage:
      return ExitCode::wrong_usage;
    case Error::Kind::input:
      return ExitCode::invalid_input;
    case Error::Kind::run:
      return ExitCode::run_failed;
    case Error::Kind::cancelled:
      return ExitCode::interrupted;
  }
  return ExitCode::run_failed;
}

int finish(const Result<int>& result) {
  return result ? *result : report(result.error());
}

void GraphOptions::add_to(CLI::App& command) {
  const HelpGroup group(command, "Graph");
  command
      .add_option("FILE", file,
                  fmt::format("Graph to open: {}; `-` is standard input", formats_text()))
      ->type_name("")
      ->required();
  command
      .add_option("--backward", backward, "Backward half of the pair, if FILE is the forward half")
      ->type_name("FILE");
  command.add_option("--graph", graph, "Index of the graph, if FILE contains several")
      ->type_name("N")
      ->check(whole_number(0));
  command
      .add_option("--assume", assume,
                  "Values of size symbols, such as u0=64,u1=32, or one value for all unbacked "
                  "symbols; ranks:dp=16 gives process group dp 16 ranks, if the file lacks their "
                  "number; stride:fsdp=8 places the ranks of process group fsdp 8 apart, if the "
                  "file does not list them")
      ->type_name("SYMBOL=N")
      ->delimiter(';');
}

namespace {

// Asks the user which graph to open.
std::optional<std::size_t> ask(std::span<const GraphEntry> entries) {
  for (std::size_t i = 0; i < entries.size(); ++i)
    fmt::print(stderr, "{:>4}  {}\n", i, describe(entries[i]));
  fmt::print(stderr, "Which graph? ");
  std::size_t choice = 0;
  if (!(std::cin >> choice) || choice >= entries.size()) return std::nullopt;
  return choice;
}

void print_choices(std::span<const GraphEntry> entries, bool json) {
  Json graphs = Json::array();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const GraphEntry& entry = entries[i];
    if (!json) {
      fmt::print("{:>4}  {}\n", i, describe(entry));
      continue;
    }
    graphs.push_back({{"index", i}, {"name", entry.name}, {"nodes", entry.nodes}});
    graphs.back()["kind"] = entry.kind ? Json(to_string(*entry.kind)) : Json();
    graphs.back()["rank"] = entry.rank ? Json(*entry.rank) : Json();
    if (entry.before) graphs.back()["before"] = *entry.before;
  }
  if (json) print_json({{"graphs", std::move(graphs)}});
}

}  // namespace

Result<Assumptions> parse_assumptions(const std::vector<std::string>& texts) {
  Assumptions all;
  for (const std::string& text : texts) {
    const auto part = Assumptions::parse(text);
    if (!part) return fail(part.error().kind, "option --assume: {}", part.error().message);
    all.override_with(*part);
  }
  return all;
}

Result<Graph> GraphOptions::open(Listing listing) const {
  OpenRequest request{.path = file, .backward = backward, .index = graph};
  JOINTER_TRY(request.assumptions, parse_assumptions(assume));
  request.choose = [listing](std::span<const GraphEntry> entries) -> std::optional<std::size_t> {
    if (::isatty(STDIN_FILENO) != 0 && ::isatty(STDERR_FILENO) != 0) return ask(entries);
    if (listing != Listing::none) print_choices(entries, listing == Listing::json);
    return std::nullopt;
  };
  return open_graph(request);
}

void EstimatorOptions::add_to(CLI::App& command) {
  const HelpGroup group(command, "Estimates");
  command
      .add_option("--device", device,
                  fmt::format("Device to estimate times for: {}, or a JSON file",
                              fmt::join(device_ids(), ", ")))
      ->type_name("NAME");
  command
      .add_option("--estimator", estimator,
                  "Time estimator: roofline (the default), kernels, simple{coll_us=20,...}, "
                  "torch-2.11, torch-2.15, profile{trace=\"trace.json\"}, measured or "
                  "measured{device=\"NVIDIA H200\"} (see `jointer calibrate --list`)")
      ->type_name("NAME");
  command
      .add_option("--gpus-per-node", gpus_per_node,
                  "Number of GPUs connected by fast links; default: 8")
      ->type_name("N")
      ->check(whole_number(1, 1 << 16));
}

EstimatorRequest EstimatorOptions::request() const {
  return {.name = estimator, .device = device, .gpus_per_node = gpus_per_node};
}

Result<std::unique_ptr<Estimator>> EstimatorOptions::make(const Graph& graph) const {
  return make_estimator(request(), graph.main_device());
}

void add_optimizer_option(CLI::App& command, std::string& optimizer) {
  const HelpGroup group(command, "Estimates");
  set_choices(command.add_option("--optimizer", optimizer,
                                 "Optimizer whose state counts toward memory; default: none"),
              {"none", "adamw"});
}

void ExecutionOption::add_to(CLI::App& command) {
  const HelpGroup group(command, "Estimates");
  set_choices(
      command.add_option("--execution", name,
                         "How the graph is executed: operator by operator (eager, the default), "
                         "or as kernels that are predicted for torch's compiler: regional (the "
                         "marked calls), inductor (all), cudagraph (all, launched at once)"),
      {"eager", "regional", "inductor", "cudagraph"});
}

void ExecutionOption::add_trace_to(CLI::App& command) {
  const HelpGroup group(command, "Estimates");
  command
      .add_option("--kernel-trace", trace,
                  "With --execution inductor or cudagraph, a torch.profiler trace of compiled "
                  "steps, whose times replace the estimates of the kernels found in it")
      ->type_name("TRACE");
}

Result<Analysis> ExecutionOption::analyze(const Graph& graph,
                                          const AnalysisOptions& options) const {
  if (trace.empty()) return analyze_step(graph, options);
  if (options.execution != Execution::inductor && options.execution != Execution::cudagraph)
    return fail(Error::Kind::usage,
                "option --kernel-trace: needs a step that is compiled as a whole; use "
                "--execution inductor or --execution cudagraph");
  JOINTER_TRY(const CompiledTrace read, read_compiled_trace(trace));
  JOINTER_TRY(const MeasuredKernelTimes times, measured_kernel_times(read, graph));
  return analyze_step(graph, options, &times);
}

Result<Execution> ExecutionOption::of(const Graph& graph) const {
  const Execution execution = execution_named(name).value_or(Execution::eager);
  if (const auto possible = check_execution(graph, execution); !possible)
    return fail(possible.error().kind, "option --execution: {}", possible.error().message);
  return execution;
}

void print_json(const Json& json) {
  const std::string text = write_json(json);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fputc('\n', stdout);
}

}  // namespace jointer::cli
