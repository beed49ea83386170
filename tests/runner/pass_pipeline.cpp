// Helper of tests of passes:
//
//   pass_pipeline PIPELINE CAPTURE BACKWARD|- OUT
//
// runs a pipeline on a capture, or on a pair, and writes the result as a native capture.

#include <cstdio>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/capture/native_writer.h"
#include "core/open/open.h"
#include "core/pass/pipeline_run.h"
#include "passes/built_in.h"

using namespace jointer;

namespace {

Result<void> run(const std::vector<std::string>& arguments) {
  OpenRequest request{.path = arguments[1]};
  if (arguments[2] != "-") request.backward = arguments[2];
  JOINTER_TRY(const Graph graph, open_graph(request));
  JOINTER_TRY(const Pipeline pipeline, parse_pipeline(arguments[0]));
  const PassContext::Options options;
  JOINTER_TRY(const PipelineRun done, run_pipeline(graph, pipeline, built_in_passes(), options));
  if (done.error) return tl::unexpected(*done.error);
  std::size_t moved = 0;
  for (const StepResult& step : done.steps) moved += step.moved;
  std::printf("%zu\n", moved);
  return write_bytes(arguments[3],
                     write_native(done.steps.empty() ? graph : *done.steps.back().graph));
}

}  // namespace

int main(int count, char** values) {
  const std::vector<std::string> arguments(values + 1, values + count);
  if (arguments.size() != 4) return 2;
  const auto done = run(arguments);
  if (!done) std::fprintf(stderr, "pass_pipeline: %s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
