// Helper of test_every_capture.py:
//
//   every_pass CAPTURE BACKWARD|- INDEX|- OUT|-
//
// runs every built-in pass that needs no Python, each on the graph as opened, and prints a line of
// JSON for each: `begins` before it, then its time and changes, or the reason why it refuses. If a
// pass crashes the process, it is the one that began last. Writes the resulting graphs to the
// folder OUT under the passes' names.

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

void say(const nlohmann::json& line) {
  std::puts(line.dump().c_str());
  std::fflush(stdout);
}

Result<void> run_one(const Graph& graph, const Pass& pass, const PassRegistry& registry,
                     const std::string& folder) {
  say({{"begins", pass.info.name}});
  PassContext::Options options;
  options.analysis.estimator.name = "simple";
  // A search runs until its limit, so the limit is short.
  const bool is_search = pass.info.stage == PassStage::search;
  JOINTER_TRY(const Pipeline pipeline,
              parse_pipeline(pass.info.name + (is_search ? "{evaluations=8}" : "")));
  const double start = benchmarks::processor_ms();
  const Result<PipelineRun> done = run_pipeline(graph, pipeline, registry, options);
  nlohmann::json line{{"pass", pass.info.name},
                      {"stage", to_string(pass.info.stage)},
                      {"nodes", graph.order().size()},
                      {"whole_ms", benchmarks::processor_ms() - start}};
  // Refused before it ran, or by the pass.
  const Error* const error = !done ? &done.error() : done->error ? &*done->error : nullptr;
  if (error != nullptr) {
    line["refusal"] = error->message;
    line["is_refusal"] = error->kind == Error::Kind::usage;
    say(line);
    return {};
  }
  const StepResult& step = done->steps.front();
  line["ms"] = static_cast<double>(step.ns) / 1e6;
  line["moved"] = step.moved;
  line["added"] = step.added;
  line["removed"] = step.removed;
  line["edit_refusal"] = step.edit_refusal;
  line["peak"] = {step.before.figures.peak_bytes, step.after.figures.peak_bytes};
  line["decisions"] = step.decisions.size();
  say(line);
  if (folder == "-") return {};
  return write_bytes(folder + '/' + pass.info.name + ".json", write_native(*step.graph));
}

Result<void> run(const std::vector<std::string>& arguments) {
  OpenRequest request{.path = arguments[0]};
  if (arguments[1] != "-") request.backward = arguments[1];
  if (arguments[2] != "-") request.index = std::stoul(arguments[2]);
  JOINTER_TRY(const Graph graph, open_graph(request));
  const PassRegistry registry = built_in_passes();
  for (const Pass& pass : registry.passes()) {
    if (pass.info.name == "inductor_decomposition") continue;     // written in Python
    if (pass.info.name == "full_inductor_compilation") continue;  // needs the previous one
    JOINTER_CHECK(run_one(graph, pass, registry, arguments[3]));
  }
  return {};
}

}  // namespace

int main(int count, char** values) {
  const std::vector<std::string> arguments(values + 1, values + count);
  if (arguments.size() != 4) return 2;
  const auto done = run(arguments);
  if (!done) std::fprintf(stderr, "every_pass: %s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
