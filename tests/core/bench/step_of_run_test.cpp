#include "core/bench/step_of_run.h"

#include <gtest/gtest.h>

#include "tests/support/graphs.h"
#include "tests/support/must.h"

namespace jointer::test {
namespace {

Graph with_a_collective() {
  return parse(R"(
    group dp: 0 1
    x: bf16[4096,4096] = input
    s: bf16[8192,4096] = _c10d_functional.all_gather_into_tensor(x, 2, 'dp')
    w: bf16[8192,4096] = _c10d_functional.wait_tensor(s)
    a: bf16[8192,4096] = aten.relu(w)
    return [a]
  )");
}

TEST(StepOfRun, EqualsTheSimulatedStepWithOtherRanks) {
  const Graph graph = with_a_collective();
  const auto analysis = must(analyze(graph));
  EXPECT_EQ(step_of_run(graph, analysis, {}), analysis.simulation.step_ns());
}

TEST(StepOfRun, ASingleRankCopiesInsteadOfCommunicating) {
  const Graph graph = with_a_collective();
  const auto analysis = must(analyze(graph));
  const Simulation& simulation = analysis.simulation;
  ASSERT_GT(simulation.exposed_ns(), 0);
  const std::int64_t copy =
      step_of_run(graph, analysis, {.solo = 0}) - (simulation.step_ns() - simulation.exposed_ns());
  // 64 MiB are written, and as many read.
  const double bytes = 2.0 * 64 * 1024 * 1024;
  const double ns = bytes / (analysis.device.memory_gbps * analysis.device.efficiency.memory);
  // While the CPU launches the next kernel, the copy runs in the background.
  const CollectiveTiming& timing = simulation.collectives().front();
  const auto hidden = static_cast<double>(timing.end_ns - timing.start_ns - timing.exposed_ns);
  EXPECT_NEAR(static_cast<double>(copy), ns + analysis.device.kernel_us * 1e3 - hidden, 1);
}

TEST(StepOfRun, ACopyOverlapsWithCompute) {
  const Graph graph = parse(R"(
    group dp: 0 1
    x: bf16[4096,4096] = input
    y: bf16[16384,16384] = input
    s: bf16[8192,4096] = _c10d_functional.all_gather_into_tensor(x, 2, 'dp')
    b: bf16[16384,16384] = aten.mm(y, y)
    w: bf16[8192,4096] = _c10d_functional.wait_tensor(s)
    a: bf16[8192,4096] = aten.relu(w)
    return [a, b]
  )");
  const auto analysis = must(analyze(graph));
  EXPECT_EQ(step_of_run(graph, analysis, {.solo = 0}), analysis.simulation.step_ns());
}

TEST(StepOfRun, ASingleRankStillCopiesToTheHostAndBack) {
  const Graph graph = parse(R"(
    x: f32[262144] = input
    a: f32[262144] = aten.relu(x)
    device cpu
    off: f32[262144] = ao.offload(a)
    host: f32[262144] = ao.wait_tensor(off, a)
    device cuda:0
    back: f32[262144] = ao.reload(host, 'cuda:0')
    again: f32[262144] = ao.wait_tensor(back)
    b: f32[262144] = aten.cos(again)
    return [b]
  )");
  const auto analysis = must(analyze(graph));
  ASSERT_GT(analysis.simulation.exposed_ns(), 0);
  EXPECT_EQ(step_of_run(graph, analysis, {.solo = 0}), analysis.simulation.step_ns());
}

TEST(StepOfRun, ARecordedStepDoesNotWaitForLaunches) {
  const Graph graph = with_a_collective();
  const auto analysis = must(analyze(graph));
  const Simulation& simulation = analysis.simulation;
  EXPECT_EQ(step_of_run(graph, analysis, {.backend = Backend::cudagraph}),
            simulation.step_ns() - simulation.host_bound_ns());
}

}  // namespace
}  // namespace jointer::test
