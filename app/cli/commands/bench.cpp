// jointer bench FILE: runs the graph on this machine, one process per rank, and compares the
// measurements with the estimate.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "app/cli/commands/bench_passes.h"
#include "app/cli/commands/bench_report.h"
#include "app/cli/commands/checks.h"
#include "app/cli/commands/commands.h"
#include "app/cli/commands/interruption.h"
#include "app/cli/commands/options.h"
#include "app/cli/commands/outputs.h"
#include "app/cli/commands/progress_line.h"
#include "app/cli/commands/skew_table.h"
#include "app/cli/commands/unused_options.h"
#include "app/launch/benchmark.h"
#include "app/launch/captures.h"
#include "app/launch/fit.h"
#include "app/launch/launcher.h"
#include "app/launch/machine.h"
#include "app/launch/memory_need.h"
#include "app/launch/nsys.h"
#include "core/base/bytes.h"
#include "core/base/counted.h"
#include "core/base/json_text.h"
#include "core/bench/calibrate.h"
#include "core/bench/rank_measurement.h"
#include "core/graph/title_in_text.h"
#include "core/open/open.h"
#include "core/workspace/workspace_capture.h"

namespace jointer::cli {
namespace {

constexpr const char* kMemoryLimit = "--memory-limit";

// Options that are passed on to the ranks under the same names. parse_runner_arguments reads their
// values; here, a number of bytes must also have a unit.
struct RankOption {
  const char* name;
  const char* type;  // the placeholder for the value in the help
  const char* help;
  std::string value;
};

struct BenchCommand {
  GraphOptions graph;
  EstimatorOptions estimator;
  PipelineOptions pipeline;
  std::vector<RankOption> rank_options{
      {"--inputs", "FILE",
       "Safetensors file with the inputs, by placeholder; default: generated from --seed"},
      {"--expected", "FILE", "Safetensors file with the expected outputs, by index"},
      {"--baseline", "FILE", "Unedited graph, which computes the expected outputs"},
      {"--baseline-backward", "FILE",
       "Backward half of the pair, if --baseline is the forward half"},
      {"--ranks", "N", "Number of ranks; default: as many as the capture's collectives need"},
      {"--solo", "RANK",
       "Run only this rank of a world of any size; local copies replace its collectives"},
      {"--on", "auto|cpu|cuda", "Device to run on; default: auto"},
      {"--backend", "interpret|cudagraph|inductor|regional|python",
       "Backend that runs the graph; default: interpret"},
      {"--attention", "auto|flash|efficient|cudnn|math", "Attention kernel; default: auto"},
      {"--tf32", "auto|allow|forbid",
       "TF32 for float32 matrix products and convolutions on a GPU; default: auto, as in torch"},
      {"--mark", "NODES",
       "With --backend regional: nodes or FQN_PATTERN::operator to compile, separated by `;`"},
      {"--artifacts", "FOLDER",
       "With --backend inductor or regional: folder for the compiled packages; default: keep them "
       "only in the cache"},
      {"--nsys", "FOLDER",
       "Run every rank under Nsight Systems, which records the measured steps; folder for one "
       "report per rank"},
      {"--iterations", "N", "Number of measured steps; default: 10"},
      {"--warmup", "N", "Number of unmeasured steps before the measured ones; default: 3"},
      {"--threads", "N",
       "Number of threads per rank; default: the machine's cores divided among the ranks"},
      {"--seed", "N", "Seed for random numbers and generated inputs; default: 0"},
      {kMemoryLimit, "BYTES", "Maximum memory that each rank may allocate, such as 20GiB"},
      {"--timeout", "SECONDS", "End a rank that makes no progress for this long; default: 300"}};
  bool verify = false, profile = false, calibrate = false, json = false;
  bool any_ranks = false, any_size = false, no_pinning = false;
  std::string print_command;
  int nodes = 1, ranks_per_node = 0;
};

// Sets the unedited graph as the baseline with which outputs are compared.
Result<void> set_unedited(BenchmarkRequest& request) {
  request.baseline = request.program;
  if (!is_workspace_file(request.program.graph)) return {};
  JOINTER_TRY(const Workspace workspace, read_workspace(request.program.graph));
  JOINTER_TRY(const OpenRequest capture, locate_capture(workspace, {.path = request.program.graph,
                                                                    .index = request.graph_index}));
  request.baseline = {capture.path, capture.backward};
  request.graph_index = capture.index;
  return {};
}

Result<BenchmarkRequest> request_of(const BenchCommand& options, const CLI::App& command) {
  std::vector<std::string> arguments;
  for (const RankOption& each : options.rank_options) {
    if (command.count(each.name) == 0) continue;
    std::string value = each.value;
    if (std::string_view(each.name) == kMemoryLimit) {
      JOINTER_CHECK(bytes_of_option(kMemoryLimit, value, "a size such as 60GiB"));
      std::erase(value, ' ');
    }
    arguments.push_back(fmt::format("{}={}", each.name, value));
  }
  arguments.insert(arguments.end(), {"--", options.graph.file});
  JOINTER_TRY(BenchmarkRequest request, parse_runner_arguments(arguments));
  request.program.backward = options.graph.backward;
  request.graph_index = options.graph.graph;
  request.assumptions = fmt::format("{}", fmt::join(options.graph.assume, ","));
  request.profile = options.profile || options.calibrate;
  request.pins = !options.no_pinning;
  if (options.verify && request.baseline.empty() && request.expected.empty()) {
    JOINTER_CHECK(set_unedited(request));
  }
  return request;
}

Result<void> check_files(const std::string& pattern, const BenchmarkRequest& request) {
  if (pattern.empty()) return {};
  for (const int rank : rank_numbers(request)) {
    const std::string path = path_of_rank(pattern, rank);
    std::error_code status;
    if (!std::filesystem::is_regular_file(path, status))
      return input_error(
          "{}: {}", path,
          std::filesystem::exists(path, status) ? "not a regular file" : "no such file");
  }
  return {};
}

// Opens the graph to estimate. If each rank has its own graph, this is the graph of the rank given
// by --solo or, without it, of the first rank.
Result<Graph> open_first(const BenchCommand& options, const BenchmarkRequest& request) {
  GraphOptions first = options.graph;
  const int rank = request.solo.value_or(0);
  first.file = path_of_rank(first.file, rank);
  first.backward = path_of_rank(first.backward, rank);
  return first.open(options.json);
}

// Makes paths absolute, since launchers may run the command in another folder.
void make_absolute(BenchmarkRequest& request) {
  for (std::string* path : {&request.program.graph, &request.program.backward,
                            &request.baseline.graph, &request.baseline.backward, &request.inputs,
                            &request.expected, &request.artifacts, &request.nsys})
    *path = absolute_path(*path);
}

// --print-command: prints a command that starts the same run on several machines.
Result<int> print_command(const BenchCommand& options, BenchmarkRequest request,
                          const Graph& graph) {
  const int world = world_size(graph);
  const int per_node =
      options.ranks_per_node > 0 ? options.ranks_per_node : std::max(1, world / options.nodes);
  if (!request.solo && world > 1 && per_node * options.nodes != world)
    return fail(Error::Kind::usage,
                "option --nodes: {} machines with {} each start {}, but the collectives of {} need "
                "{}; change --nodes or --ranks-per-node",
                options.nodes, counted(static_cast<std::size_t>(per_node), "rank"),
                counted(static_cast<std::size_t>(per_node * options.nodes), "rank"),
                title_in_text(graph), world);
  for (const std::string& file : {request.program.graph, request.program.backward}) {
    if (file.empty()) continue;
    JOINTER_TRY(const bool is_native, is_native_file(path_of_rank(file, request.solo.value_or(0))));
    if (!is_native)
      return fail(Error::Kind::usage,
                  "{}: expected a native capture, the only format that ranks on other machines can "
                  "read; write one with `jointer apply {}{}{} -o OUT.json`{}",
                  file, request.program.graph,
                  request.program.backward.empty() ? "" : " --backward " + request.program.backward,
                  options.graph.graph ? fmt::format(" --graph {}", *options.graph.graph) : "",
                  path_of_rank(file, 0) == file ? "" : " for each rank");
  }
  make_absolute(request);
  const std::string line = options.print_command == "slurm"
                               ? slurm_command(request, options.nodes, per_node)
                               : torchrun_command(request, options.nodes, per_node);
  if (options.json)
    print_json({{"command", line}});
  else
    fmt::print("{}\n", line);
  return ExitCode::done;
}

int exit_code_of(const BenchmarkResult& result) {
  if (Interruption::has_happened()) return report({Error::Kind::cancelled, "interrupted"});
  if (!result.succeeded()) return report({Error::Kind::run, result.failure()});
  const auto verified = result.verified();
  return verified && !verified->equal ? ExitCode::negative_answer : ExitCode::done;
}

Result<void> check_memory(const Graph& graph, const BenchmarkRequest& request) {
  const auto shortage = memory_shortage(graph, request, this_machine());
  if (!shortage) return {};
  return fail(Error::Kind::usage, "{}: {}; {}--any-size runs the graph anyway",
              title_in_text(graph), to_text(*shortage),
              shortage->ranks > 1 && shortage->device == DeviceType::cpu
                  ? "--solo 0 runs one rank alone, and "
                  : "");
}

Result<BenchmarkOutcome> run_ranks(const BenchCommand& options, const Graph& graph,
                                   const FittedRequest& fitted, ProgramSource source) {
  ProgressLine line;
  LaunchOptions launch_options;
  launch_options.compares_ranks = !options.any_ranks;
  launch_options.on_progress = [&](const std::vector<RankResult>& ranks) {
    line.show(progress_line(ranks));
  };
  launch_options.is_cancelled = &Interruption::has_happened;
  auto outcome = run_benchmark(graph, fitted, options.estimator.request(), launch_options, source);
  line.clear();
  return outcome;
}

// --calibrate: stores the times of the first rank's nodes for the estimator `measured`.
Result<void> keep_costs(const Graph& graph, const BenchmarkResult& result) {
  if (result.ranks.empty() || !result.ranks.front().measured) return {};
  const RankResult& rank = result.ranks.front();
  JOINTER_TRY(const CostSamples kept, store(graph, measurement_of(graph, result, rank)));
  fmt::print(stderr,
             "jointer: stored the times of {} and {}, measured on {}, in the cost database\n",
             counted(kept.nodes.size(), "distinct call"),
             counted(kept.collectives.size(), "distinct collective"), kept.device);
  return {};
}

// Returns the JSON members to print after those of the result: the explanation of the peak; the
// time that ranks waited for each other, if the run was profiled; the pipeline, if passes ran.
std::string further_members(const BenchPasses& passes, const BenchmarkResult& result,
                            const Graph& graph, const Analysis& analysis) {
  std::string members;
  keep_member(members, "explained", explained_json(result, graph, analysis));
  if (result.request.profile) keep_member(members, "skew", skew_json(result, graph));
  if (!passes.text().empty()) keep_member(members, "pipeline", passes.text());
  return members;
}

// Refuses options that have no effect, and options that --nsys excludes. `request` contains the
// backend that the user or a pipeline chose.
Result<void> check_options(const CLI::App& command, const BenchCommand& options,
                           const BenchmarkRequest& request) {
  if (!options.pipeline.any())
    JOINTER_CHECK(
        PluginOptions::refuse(command, "needs --passes, --preset or --graph-trainer-flags"));
  if (request.backend != Backend::regional)
    JOINTER_CHECK(refuse_options(command, {"--mark"}, "needs --backend regional"));
  if (request.backend != Backend::regional && request.backend != Backend::inductor)
    JOINTER_CHECK(refuse_options(command, {"--artifacts"}, "needs --backend inductor or regional"));
  if (!request.nsys.empty())
    JOINTER_CHECK(refuse_options(command, {"--profile", "--calibrate"},
                                 "kernels cannot be traced under Nsight Systems; run once with "
                                 "--nsys and once without"));
  if (request.backend == Backend::inductor)
    JOINTER_CHECK(refuse_options(command, {"--calibrate"},
                                 "compiled code has no times of nodes; use --backend interpret"));
  if (request.backend == Backend::python &&
      device_of_run(request, this_machine()) != DeviceType::cpu)
    JOINTER_CHECK(refuse_options(command, {"--calibrate"},
                                 "the Python backend does not trace the kernels of a GPU; use "
                                 "--backend interpret, or read a profiler trace with `jointer "
                                 "calibrate FILE --trace TRACE`"));
  return {};
}

Result<int> run(const BenchCommand& options, const CLI::App& command) {
  JOINTER_TRY(BenchmarkRequest request, request_of(options, command));
  JOINTER_CHECK(check_output_folder(request.artifacts));
  JOINTER_CHECK(check_output_folder(request.nsys));
  if (!options.print_command.empty())
    JOINTER_CHECK(refuse_options(
        command,
        {"--calibrate", "--any-ranks", "--any-size", "--device", "--estimator", "--gpus-per-node"},
        "has no effect with --print-command, which runs and estimates nothing"));
  JOINTER_TRY(Graph graph, open_first(options, request));
  if (!options.print_command.empty() && options.pipeline.any())
    return fail(
        Error::Kind::usage,
        "option --print-command: the printed command cannot run passes; first apply them with "
        "`jointer apply FILE --passes ... -o OUT.json`, then run `jointer bench` on OUT.json");
  if (!options.print_command.empty()) {
    JOINTER_CHECK(check_options(command, options, request));
    // The machines on which the command runs are assumed to have GPUs.
    JOINTER_CHECK(check_nsys(request, {.gpus = 1}));
    return print_command(options, std::move(request), graph);
  }
  JOINTER_TRY(BenchPasses passes,
              BenchPasses::prepare(options.pipeline, command.count("--backend") > 0, request));
  JOINTER_CHECK(check_options(command, options, request));
  JOINTER_TRY(FittedRequest fitted, fit_to_machine(graph, std::move(request), this_machine()));
  JOINTER_CHECK(check_files(fitted.request.inputs, fitted.request));
  JOINTER_CHECK(check_files(fitted.request.expected, fitted.request));
  // Report an invalid estimator or device before anything runs.
  JOINTER_CHECK(
      make_estimator(options.estimator.request(), device_of_run(fitted.request, this_machine())));
  JOINTER_CHECK(passes.run(options.graph, options.estimator.request(), graph, fitted));
  if (!options.any_size) JOINTER_CHECK(check_memory(graph, fitted.request));

  const Interruption interruption;
  JOINTER_TRY(const BenchmarkOutcome outcome, run_ranks(options, graph, fitted, passes.source()));
  const auto& [result, analysis] = outcome;
  const std::string text = options.json
                               ? write_result(result, options.profile,
                                              further_members(passes, result, graph, analysis)) +
                                     '\n'
                               : bench_tables(result, graph, analysis);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
  if (options.calibrate && result.succeeded()) JOINTER_CHECK(keep_costs(graph, result));
  return exit_code_of(result);
}

}  // namespace

void add_bench_command(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<BenchCommand>();
  CLI::App* command = program.add_subcommand("bench",
                                             "Runs the graph on this machine, with one process per "
                                             "rank, and compares memory and time with estimates");
  options->graph.add_to(*command);
  for (RankOption& each : options->rank_options)
    command->add_option(each.name, each.value, each.help)->type_name(each.type);
  command->add_flag("--verify", options->verify,
                    "If neither --baseline nor --expected is given, compare the outputs with those "
                    "of the unedited graph, run by `interpret`");
  command->add_flag("--profile", options->profile,
                    "Run additional steps that time every node and record memory");
  command->get_option("--baseline-backward")->needs(command->get_option("--baseline"));
  command->add_flag("--calibrate", options->calibrate,
                    "Profile, and store the times for the estimator `measured`");
  CLI::Option* print = set_choices(
      command->add_option("--print-command", options->print_command,
                          "Only print the command that runs the graph on several machines"),
      {"torchrun", "slurm"});
  command->add_option("--nodes", options->nodes, "With --print-command: number of machines")
      ->type_name("N")
      ->check(whole_number(1, 1 << 20))
      ->needs(print);
  command
      ->add_option("--ranks-per-node", options->ranks_per_node,
                   "With --print-command: number of ranks per machine")
      ->type_name("N")
      ->check(whole_number(1, 1 << 10))
      ->needs(print);
  options->pipeline.add_to(*command);
  options->estimator.add_to(*command);
  command->add_flag("--any-ranks", options->any_ranks,
                    "Run the files of several ranks even if their collectives do not match");
  command->add_flag("--any-size", options->any_size,
                    "Start the ranks even if they are predicted not to fit in memory");
  command->add_flag("--no-pinning", options->no_pinning,
                    "Let ranks on GPUs use all CPUs, not only those nearest to their GPU");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->footer(
      "In FILE, --backward, --baseline, --baseline-backward, --inputs and --expected, `{rank}` "
      "stands for the rank, so that each rank can have its own file.");
  command->callback(
      [options, command, &exit_code] { exit_code = finish(run(*options, *command)); });
}

}  // namespace jointer::cli
