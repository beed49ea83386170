#pragma once

// Steps of pipelines run on a literal, in the form that the report expects.

#include <string_view>
#include <vector>

#include "tests/support/graphs.h"
#include "tests/support/run_pass.h"
#include "views/pipeline/report/reported_step.h"

namespace jointer::test {

// Two all-gathers whose waits directly follow, independent compute, and a reduce-scatter: an input
// that `sink_waits_iterative` and bucketing can improve.
inline constexpr std::string_view kCollectives = R"(
  group fsdp: 0 1
  w0: f32[512,512] = parameter
  w1: f32[512,512] = parameter
  x: f32[512,512] = input
  g0: f32[1024,512] = _c10d_functional.all_gather_into_tensor(w0, 2, 'fsdp')
  v0: f32[1024,512] = _c10d_functional.wait_tensor(g0)
  g1: f32[1024,512] = _c10d_functional.all_gather_into_tensor(w1, 2, 'fsdp')
  v1: f32[1024,512] = _c10d_functional.wait_tensor(g1)
  a: f32[512,512] = aten.mm(x, x)
  b: f32[512,512] = aten.mm(a, x)
  y: f32[1024,512] = aten.mm(v0, a)
  z: f32[1024,512] = aten.mm(v1, b)
  return [y, z]
)";

// The steps of a pipeline on a graph, each with its input.
inline std::vector<views::ReportedStep> reported(const Graph& graph, std::string_view pipeline) {
  std::vector<views::ReportedStep> steps;
  auto before = std::make_shared<const Graph>(graph);
  for (StepResult& step : run_pipeline_text(graph, pipeline)) {
    const auto result = std::make_shared<const StepResult>(std::move(step));
    steps.push_back({before, result});
    before = result->graph;
  }
  return steps;
}

}  // namespace jointer::test
