// Reordering passes on real graphs: prints one JSON object with, for each capture and each pass,
// the exposed time and the peak after it, and its CPU time; `before` is the captured order.
//
//   reordering_benchmark [--estimator NAME] CAPTURE[,BACKWARD]...
//
// The default estimator is `simple` on one communication stream, which favors no pass.

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/open/open.h"
#include "core/pass/pipeline_run.h"
#include "passes/built_in.h"
#include "tests/benchmarks/timing.h"

namespace {

using namespace jointer;
using namespace jointer::benchmarks;

const char* const kPipelines[] = {
    "raise_comms",
    "sink_waits",
    "reorder_compute_for_overlap",
    "reorder_communication_preserving_peak_memory",
    "reorder_communication_preserving_peak_memory{reorder_iterative_use_runtime_estimations=true}",
    "sink_waits_iterative",
    "sink_waits_iterative{sink_iterative_use_runtime_estimations=true}",
    "reorder_for_peak_memory",
    ("reorder_compute_and_comm_for_overlap{passes=[reorder_communication_preserving_peak_memory,"
     "sink_waits_iterative,reorder_communication_preserving_peak_memory]}")};

nlohmann::ordered_json row(const StepFigures& figures) {
  return {{"exposed_ms", static_cast<double>(figures.figures.exposed_ns) / 1e6},
          {"peak_gb", static_cast<double>(figures.figures.peak_bytes) / 1e9},
          {"hidden", figures.hidden},
          {"collectives", figures.collectives}};
}

Result<nlohmann::ordered_json> measure(const Graph& graph, const PassContext::Options& options) {
  JOINTER_TRY(const StepFigures before, step_figures(graph, options.analysis));
  nlohmann::ordered_json rows{{"before", row(before)}};
  const PassRegistry registry = built_in_passes();
  for (const char* text : kPipelines) {
    JOINTER_TRY(const Pipeline pipeline, parse_pipeline(text));
    const Pass& pass = *registry.find(pipeline[0].pass);
    JOINTER_TRY(const Arguments arguments,
                Arguments::check(pass.info.parameters, pipeline[0].given));
    std::vector<double> times;
    Graph after = graph;
    for (int i = 0; i < 3; ++i) {
      after = graph;
      PassContext context(options);
      const double start = processor_ms();
      JOINTER_CHECK(pass.run(after, arguments, context));
      times.push_back(processor_ms() - start);
    }
    JOINTER_TRY(const StepFigures figures, step_figures(after, options.analysis));
    rows[text] = row(figures);
    rows[text]["ms"] = percentile(times, 0.5);
  }
  return rows;
}

}  // namespace

int main(int count, char** values) {
  PassContext::Options options;
  options.analysis.estimator.name = "simple";
  options.analysis.simulation.one_communication_stream = true;
  nlohmann::ordered_json answer;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = values[i];
    if (argument == "--estimator" && i + 1 < count) {
      options.analysis.estimator.name = values[++i];
      options.analysis.simulation.one_communication_stream = false;
      continue;
    }
    const std::size_t comma = argument.find(',');
    OpenRequest request{.path = std::string(argument.substr(0, comma))};
    if (comma != std::string_view::npos) request.backward = argument.substr(comma + 1);
    const auto graph = open_graph(request);
    const auto rows = graph ? measure(*graph, options)
                            : Result<nlohmann::ordered_json>(tl::unexpected(graph.error()));
    if (!rows) {
      fmt::print(stderr, "reordering_benchmark: {}\n", rows.error().message);
      return 1;
    }
    answer[std::string(argument)] = *rows;
  }
  fmt::print("{}\n", answer.dump());
  return 0;
}
