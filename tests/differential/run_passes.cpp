// Helper of tests that compare passes with torch's:
//
//   run_passes CAPTURE BACKWARD|- ESTIMATOR PIPELINE OUT|-
//
// runs the pipeline with one communication stream, writes the graph as a native capture to OUT, and
// prints one JSON object: each step's time (`ns` by the wall clock, `cpu_ns` of this thread's CPU),
// numbers and decisions.

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/capture/native_writer.h"
#include "core/open/open.h"
#include "core/pass/pipeline_run.h"
#include "passes/built_in.h"
#include "tests/benchmarks/timing.h"

using namespace jointer;

namespace {

nlohmann::json to_json(const StepFigures& f) {
  return {{"peak_bytes", f.figures.peak_bytes},
          {"step_ns", f.figures.step_ns},
          {"exposed_ns", f.figures.exposed_ns},
          {"hidden", f.hidden},
          {"collectives", f.collectives}};
}

// The built-in passes; each run appends its CPU time to `times`, which must outlive them.
Result<PassRegistry> timed_passes(std::vector<std::int64_t>& times) {
  const PassRegistry built_in = built_in_passes();
  PassRegistry timed;
  for (Pass pass : built_in.passes()) {
    pass.run = [run = pass.run, &times](Graph& graph, const Arguments& given,
                                        PassContext& context) -> Result<void> {
      const double start = benchmarks::processor_ms();
      JOINTER_CHECK(run(graph, given, context));
      times.push_back(std::llround((benchmarks::processor_ms() - start) * 1e6));
      return {};
    };
    JOINTER_CHECK(timed.add(std::move(pass)));
  }
  return timed;
}

Result<void> run(const std::vector<std::string>& arguments) {
  JOINTER_TRY(const Graph graph,
              open_graph({.path = arguments[0],
                          .backward = arguments[1] == "-" ? std::string() : arguments[1]}));
  PassContext::Options options;
  options.analysis.estimator.name = arguments[2];
  options.analysis.simulation.one_communication_stream = true;
  std::vector<std::int64_t> times;
  JOINTER_TRY(const PassRegistry registry, timed_passes(times));
  JOINTER_TRY(const Pipeline pipeline, parse_pipeline(arguments[3]));
  JOINTER_TRY(const PipelineRun done, run_pipeline(graph, pipeline, registry, options));
  if (done.error) return tl::unexpected(*done.error);
  nlohmann::json steps = nlohmann::json::array();
  const Graph* last = &graph;
  for (const StepResult& step : done.steps) {
    nlohmann::json decisions = nlohmann::json::array();
    for (const Decision& d : step.decisions)
      decisions.push_back({{"node", d.node}, {"action", d.action}, {"reason", d.reason}});
    steps.push_back({{"step", step.step},
                     {"ns", step.ns},
                     {"cpu_ns", times[steps.size()]},
                     {"before", to_json(step.before)},
                     {"after", to_json(step.after)},
                     {"moved", step.moved},
                     {"added", step.added},
                     {"removed", step.removed},
                     {"edit_refusal", step.edit_refusal},
                     {"decisions", decisions}});
    last = step.graph.get();
  }
  std::puts(nlohmann::json{{"steps", steps}}.dump().c_str());
  if (arguments[4] == "-") return {};
  return write_bytes(arguments[4], write_native(*last));
}

}  // namespace

int main(int count, char** values) {
  const std::vector<std::string> arguments(values + 1, values + count);
  if (arguments.size() != 5) return 2;
  const auto done = run(arguments);
  if (!done) std::fprintf(stderr, "%s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
