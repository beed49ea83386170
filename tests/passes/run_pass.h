#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

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

inline Graph graph_after(const Graph& graph, std::string_view pipeline) {
  return *run_pass(graph, pipeline).graph;
}

// The names of all built-in passes.
inline std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  const PassRegistry registry = built_in_passes();
  for (const Pass& pass : registry.passes()) names.push_back(pass.info.name);
  return names;
}

// The error of a pipeline; empty if it succeeds.
inline std::string refusal(const Graph& graph, std::string_view pipeline) {
  const auto run = run_pipeline(graph, *parse_pipeline(pipeline), built_in_passes(), {});
  if (!run) return run.error().message;
  return run->error ? run->error->message : std::string();
}

inline std::string reason_of(const StepResult& step, std::string_view node,
                             std::string_view action) {
  for (const Decision& d : step.decisions)
    if (d.node == node && d.action == action) return d.reason;
  return {};
}

// True if a decision says that something has changed.
inline bool reports_changes(const StepResult& step) {
  return std::ranges::any_of(step.decisions, [](const Decision& each) {
    return each.action != "kept" && each.action != "note";
  });
}

}  // namespace jointer::test
