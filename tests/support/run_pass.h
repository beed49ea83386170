#pragma once

// Runs a pipeline on a graph.

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "core/pass/pipeline_run.h"
#include "passes/built_in.h"

namespace jointer::test {

// The results of the pipeline's steps. The test fails if the text does not parse or a step fails.
inline std::vector<StepResult> run_pipeline_text(const Graph& graph, std::string_view text,
                                                 const PassContext::Options& options = {}) {
  const auto pipeline = parse_pipeline(text);
  EXPECT_TRUE(pipeline) << pipeline.error().message;
  if (!pipeline) return {};
  auto done = run_pipeline(graph, *pipeline, built_in_passes(), options);
  EXPECT_TRUE(done) << done.error().message;
  if (!done) return {};
  EXPECT_FALSE(done->error) << done->error->message;
  return std::move(done->steps);
}

// The reason of the step's first decision on a node; empty if there is none.
inline std::string reason_of(const StepResult& step, std::string_view node) {
  for (const Decision& decision : step.decisions)
    if (decision.node == node) return decision.reason;
  return {};
}

}  // namespace jointer::test
