#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "core/pass/pipeline_run.h"
#include "passes/built_in.h"

namespace jointer::test {

inline PassContext::Options simple_costs() {
  PassContext::Options options;
  options.analysis.estimator.name = "simple";
  options.analysis.simulation.one_communication_stream = true;
  return options;
}

// Runs a pipeline that must succeed, and returns its last step. Throws std::runtime_error on
// failure.
inline StepResult run_pass(const Graph& graph, std::string_view pipeline,
                           const PassContext::Options& options = simple_costs()) {
  const auto parsed = parse_pipeline(pipeline);
  if (!parsed) throw std::runtime_error(parsed.error().message);
  auto run = run_pipeline(graph, *parsed, built_in_passes(), options);
  if (!run) throw std::runtime_error(run.error().message);
  if (run->error) throw std::runtime_error(run->error->message);
  return std::move(run->steps.back());
}

inline std::string reason_of(const StepResult& step, std::string_view node,
                             std::string_view action) {
  for (const Decision& d : step.decisions)
    if (d.node == node && d.action == action) return d.reason;
  return {};
}

}  // namespace jointer::test
