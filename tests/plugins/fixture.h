#pragma once

// Runs one pipeline step on a small graph, with passes in another process.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "core/graph/canonical.h"
#include "core/graph/literal.h"
#include "core/pass/pipeline_run.h"
#include "plugins/hosted/hosted_pass.h"
#include "tests/support/temporary_folder.h"

namespace jointer::test {

class HostedPassTest : public testing::Test {
 protected:
  HostedPassTest() : graph(*parse_literal(kGraph)) {
    options.log = [this](std::string_view pass, std::string_view line) {
      logged.push_back(std::string(pass) + ": " + std::string(line));
    };
  }

  static constexpr const char* kGraph = R"(
    device cpu
    group dp: 0 1
    x: f32[8] = input
    a: f32[8] = aten.relu(x)
    b: f32[8] = aten.neg(x)
    s: f32[8] = _c10d_functional.all_reduce(a, 'sum', 'dp')
    w: f32[8] = _c10d_functional.wait_tensor(s)
    c: f32[8] = aten.add.Tensor(w, b)
    return [c]
  )";

  PipelineRun run(std::string_view text) {
    const auto pipeline = parse_pipeline(text);
    EXPECT_TRUE(pipeline) << pipeline.error().message;
    auto ran = run_pipeline(graph, *pipeline, registry, context);
    EXPECT_TRUE(ran) << ran.error().message;
    return ran ? *std::move(ran) : PipelineRun();
  }
  // The reason why the step failed; checks that the graph is unchanged.
  std::string failure(std::string_view text) {
    const std::string before = graph_hash(graph);
    const PipelineRun ran = run(text);
    EXPECT_TRUE(ran.steps.empty());
    EXPECT_EQ(graph_hash(graph), before);
    EXPECT_EQ(ran.failed_step, text);
    return ran.error ? ran.error->message : "it did not fail";
  }
  // How long an endless step that reports its progress runs after it was cancelled.
  std::chrono::milliseconds runs_on_after_cancel(const std::string& pass) {
    using Clock = std::chrono::steady_clock;
    auto requested = Clock::time_point::max();
    double done = 0;
    context.report = [&](double is) { done = is; };
    context.is_cancelled = [&] {
      if (done == 0) return false;
      requested = std::min(requested, Clock::now());
      return true;
    };
    EXPECT_EQ(failure(pass), pass + ": cancelled");
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - requested);
  }
  static std::string order_of(const Graph& graph) {
    std::string names;
    for (const NodeId id : graph.order())
      names += (names.empty() ? "" : " ") + std::string(graph.name(id));
    return names;
  }

  Graph graph;
  PassRegistry registry;
  HostOptions options;
  PassContext::Options context;
  std::vector<std::string> logged;
  TemporaryFolder folder;
};

}  // namespace jointer::test
