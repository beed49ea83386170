// jointer export FILE --format FORMAT -o OUT: writes the graph and its estimates in the formats of
// other programs.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/commands/checks.h"
#include "app/cli/commands/commands.h"
#include "app/cli/commands/figures.h"
#include "app/cli/commands/options.h"
#include "app/cli/commands/outputs.h"
#include "app/cli/commands/unused_options.h"
#include "core/base/bytes.h"
#include "core/bench/rank_measurement.h"
#include "core/bench/result.h"
#include "core/report/export.h"
#include "core/schedule/analysis.h"

namespace jointer::cli {
namespace {

struct ExportCommand {
  GraphOptions graph;
  EstimatorOptions estimator;
  ExecutionOption execution;
  std::string format, output, measured, optimizer = "none";
};

struct Format {
  std::string_view name;
  std::string (*write)(const Graph& graph, const Analysis& analysis);
  bool has_figures;  // true if the format contains estimates
};
constexpr std::string_view kPerfetto = "perfetto";
constexpr std::array kFormats{
    Format{kPerfetto, export_perfetto, true},  Format{"fx-text", export_fx_text, false},
    Format{"dot", export_dot, false},          Format{"csv", export_csv, true},
    Format{"markdown", export_markdown, true},
};

// If the format contains no estimates, refuses the options that change them. Refuses a measured run
// if the format cannot contain one.
Result<void> check_options(const CLI::App& command, const std::string& name) {
  if (name != kPerfetto)
    JOINTER_CHECK(refuse_options(command, {"--measured"}, "needs --format perfetto"));
  const auto* format = std::ranges::find(kFormats, name, &Format::name);
  if (format == kFormats.end() || format->has_figures) return {};
  return refuse_options(
      command,
      {"--device", "--estimator", "--gpus-per-node", "--optimizer", "--execution",
       "--kernel-trace"},
      fmt::format("has no effect with --format {}, which contains no estimates", name));
}

// Reads the measurements in the result of a run of the graph.
Result<std::vector<Measurement>> read_measured(const Graph& graph, const std::string& path) {
  JOINTER_TRY(const PaddedBytes bytes, read_bytes(path));
  const auto result = parse_result(bytes.view());
  if (!result) return input_error("{}: {}", path, result.error().message);
  auto ranks = profiled_ranks(graph, *result);
  if (!ranks) return input_error("{}: {}", path, ranks.error().message);
  return ranks;
}

Result<int> run(const ExportCommand& options, const CLI::App& command) {
  JOINTER_CHECK(check_options(command, options.format));
  std::vector<std::string> inputs = options.graph.inputs();
  if (options.measured == "-" && std::ranges::find(inputs, "-") != inputs.end())
    return fail(
        Error::Kind::usage,
        "the graph and --measured cannot both be standard input (`-`); give one of them as a file");
  inputs.push_back(options.measured);
  inputs.push_back(options.execution.trace);
  JOINTER_CHECK(check_outputs({{"--output", options.output}}, inputs));
  JOINTER_TRY(const Graph graph, options.graph.open(GraphOptions::Listing::none));
  JOINTER_TRY(const Execution execution, options.execution.of(graph));
  JOINTER_TRY(const Analysis analysis,
              options.execution.analyze(graph, {.memory = memory_options(options.optimizer),
                                                .estimator = options.estimator.request(),
                                                .simulation = {},
                                                .execution = execution}));
  if (command.count("--measured") > 0) {
    JOINTER_TRY(const std::vector<Measurement> measured, read_measured(graph, options.measured));
    JOINTER_CHECK(write_bytes(options.output, export_perfetto(graph, analysis, measured)));
    return ExitCode::done;
  }
  for (const Format& format : kFormats) {
    if (options.format != format.name) continue;
    JOINTER_CHECK(write_bytes(options.output, format.write(graph, analysis)));
    return ExitCode::done;
  }
  return fail(Error::Kind::usage,
              "option --format: expected perfetto, fx-text, dot, csv or markdown, got `{}`",
              options.format);
}

}  // namespace

void add_export_command(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<ExportCommand>();
  CLI::App* command =
      program.add_subcommand("export", "Exports the graph and its estimates for other programs");
  options->graph.add_to(*command);
  options->estimator.add_to(*command);
  add_optimizer_option(*command, options->optimizer);
  options->execution.add_to(*command);
  options->execution.add_trace_to(*command);
  std::vector<std::string> names;
  names.reserve(kFormats.size());
  for (const Format& format : kFormats) names.emplace_back(format.name);
  set_choices(command->add_option("--format", options->format, "Format to write")->required(),
              names);
  command
      ->add_option("--measured", options->measured,
                   "With --format perfetto: result of a run of the graph, as `jointer bench "
                   "--profile --json` prints it; adds the measured calls and kernels to the trace")
      ->type_name("RESULT");
  command->add_option("-o,--output", options->output, "File to write; `-` is standard output")
      ->type_name("FILE")
      ->required();
  command->callback(
      [options, command, &exit_code] { exit_code = finish(run(*options, *command)); });
}

}  // namespace jointer::cli
