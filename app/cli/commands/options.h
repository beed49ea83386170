#pragma once

// Options that several commands have, and functions that end a command.

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/cost/estimator.h"
#include "core/graph/graph.h"
#include "core/schedule/analysis.h"
#include "core/schedule/execution.h"

namespace jointer::cli {

// JSON whose members stay in insertion order.
using Json = nlohmann::ordered_json;

enum ExitCode : int {
  done = 0,
  negative_answer = 1,
  wrong_usage = 2,
  invalid_input = 3,
  run_failed = 4,
  interrupted = 130,
};

// Writes `jointer: MESSAGE` to standard error. Returns the exit code for the error's kind.
int report(const Error& error);

// Reports the error of a command that has ended, if any, and returns the command's exit code.
int finish(const Result<int>& result);

// Parses the values of --assume; later values override earlier ones. Error (usage): the syntax is
// invalid.
Result<Assumptions> parse_assumptions(const std::vector<std::string>& texts);

// While this object exists, options that are added to the command are listed under `name` in the
// help.
class HelpGroup {
 public:
  HelpGroup(CLI::App& command, const std::string& name)
      : defaults_(*command.option_defaults()), before_(defaults_.get_group()) {
    defaults_.group(name);
  }
  HelpGroup(const HelpGroup&) = delete;
  HelpGroup& operator=(const HelpGroup&) = delete;
  // Does not throw: the name has already been validated.
  ~HelpGroup() { defaults_.group(before_); }  // NOLINT(bugprone-exception-escape)

 private:
  CLI::OptionDefaults& defaults_;
  std::string before_;
};

// FILE [--backward BW] [--graph N] [--assume u0=64,...]
struct GraphOptions {
  std::string file, backward;
  std::optional<std::size_t> graph;
  std::vector<std::string> assume;

  void add_to(CLI::App& command);
  // The files that the command reads, for check_outputs.
  [[nodiscard]] std::vector<std::string> inputs() const { return {file, backward}; }
  // How to list the graphs on standard output if the user must choose one with --graph.
  enum class Listing : unsigned char { none, text, json };
  // If the file contains several graphs and --graph does not choose one, asks the user in a
  // terminal; elsewhere, lists the graphs according to `listing` and returns an error (usage).
  [[nodiscard]] Result<Graph> open(Listing listing) const;
  [[nodiscard]] Result<Graph> open(bool json) const {
    return open(json ? Listing::json : Listing::text);
  }
};

// [--device h100] [--estimator roofline] [--gpus-per-node 8]
struct EstimatorOptions {
  std::string device, estimator = "roofline";
  std::int64_t gpus_per_node = 8;

  void add_to(CLI::App& command);
  [[nodiscard]] EstimatorRequest request() const;
  // If --device is not given, uses the device that fits the graph.
  [[nodiscard]] Result<std::unique_ptr<Estimator>> make(const Graph& graph) const;
};

// [--optimizer none|adamw]
void add_optimizer_option(CLI::App& command, std::string& optimizer);

// [--execution eager|regional|inductor|cudagraph] [--kernel-trace TRACE]
struct ExecutionOption {
  std::string name = "eager", trace;

  void add_to(CLI::App& command);
  // For commands that show times; `add_to` does not add --kernel-trace.
  void add_trace_to(CLI::App& command);
  // Error (usage): the graph cannot be executed in this way (check_execution).
  [[nodiscard]] Result<Execution> of(const Graph& graph) const;
  // The analysis of the step, with the times in the trace if there is one. Error (usage): there is
  // a trace, but the execution does not compile the graph as a whole. Error (input): the trace
  // cannot be read or has none of the kernels. Other errors: same as analyze_step.
  [[nodiscard]] Result<Analysis> analyze(const Graph& graph, const AnalysisOptions& options) const;
};

void print_json(const Json& json);

}  // namespace jointer::cli
