// The training loop around a pair, computed by hand. Every tensor takes 1 KiB: K below.

#include "core/schedule/training_run.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <numeric>

#include "core/partition/partition.h"
#include "tests/support/graphs.h"
#include "tests/support/must.h"

namespace jointer::test {
namespace {

constexpr std::int64_t K = 1024;

// Saved for backward: a and x; the last call of the backward reads `last_read`. The optimizer's
// state is 2 K and a step count of 512 bytes.
Graph small_pair(const char* last_read = "x") {
  const Graph joint = parse(fmt::format(R"(
    device cuda
    w: f32[256] = parameter
    x: f32[256] = input
    dy: f32[256] = tangent
    a: f32[256] = aten.mul.Tensor(x, w)
    y: f32[256] = aten.sin(a)
    c: f32[256] = aten.cos(a)                  {{backward}}
    da: f32[256] = aten.mul.Tensor(dy, c)      {{backward}}
    gw: f32[256] = aten.mul.Tensor(da, {})     {{backward}}
    return [y, gw]
  )",
                                        last_read));
  const auto partitioned = must(partition(joint, {.partitioner = Partitioner::default_partition}));
  return must(emit_pair(partitioned.joint, partitioned.plan));
}

TrainingRun run(const TrainingLoop& loop) {
  const Graph pair = small_pair();
  auto done = must(simulate_training(pair, loop));
  const std::int64_t sum =
      std::accumulate(done.parts.begin(), done.parts.end(), std::int64_t{0},
                      [](std::int64_t s, const TrainingRun::Part& p) { return s + p.bytes; });
  EXPECT_EQ(sum, done.peak_bytes);
  return done;
}

TEST(TrainingRun, TheSecondStepHasTheOptimizersState) {
  const TrainingRun one = run({.steps = 1});
  // w, x, gw, and the new optimizer state.
  EXPECT_EQ(one.peak_bytes, 5 * K + 512);
  EXPECT_EQ(one.peak_phase, LoopPhase::optimizer);
  const TrainingRun three = run({.steps = 3});
  // w, x, state, a, dy, c.
  EXPECT_EQ(three.peak_bytes, 7 * K + 512);
  EXPECT_EQ(three.peak_phase, LoopPhase::backward);
  EXPECT_EQ(three.peak_step, 2);
  EXPECT_EQ(three.forward_peak_bytes, 6 * K + 512);
  EXPECT_EQ(three.backward_peak_bytes, three.peak_bytes);
}

TEST(TrainingRun, WithoutBoxedArgumentsSavedValuesLiveToTheEnd) {
  // Also da, allocated while a and dy are still held.
  EXPECT_EQ(run({.steps = 2, .boxed = false}).peak_bytes, 8 * K + 512);
}

TEST(TrainingRun, TheLossTakesMultiplesOfTheLogitsInFp32) {
  // w, x, state, a, y; the fp32 copy, the shifted logits, and two more at once.
  const TrainingRun parallel = run({.steps = 2, .loss = LossModel::loss_parallel});
  EXPECT_EQ(parallel.peak_bytes, 9 * K + 512);
  EXPECT_EQ(parallel.peak_phase, LoopPhase::loss);
  EXPECT_EQ(parallel.loss_peak_bytes, parallel.peak_bytes);
  EXPECT_EQ(run({.steps = 2, .loss = LossModel::cross_entropy}).peak_bytes, 8 * K + 512);
}

// The forward returns y, and the backward reads it last.
TEST(TrainingRun, AResultThatTheBackwardReadsLivesOn) {
  const Graph pair = small_pair("y");
  // w, x, state, a, y, dy, c.
  EXPECT_EQ(must(simulate_training(pair, {.steps = 2})).peak_bytes, 8 * K + 512);
  // Also da, allocated while all saved values are held.
  EXPECT_EQ(must(simulate_training(pair, {.steps = 2, .boxed = false})).peak_bytes, 9 * K + 512);
}

TEST(TrainingRun, WithoutAnOptimizerAllStepsAreEqual) {
  const TrainingRun run_of_many = run({.steps = 5, .optimizer = OptimizerState::none});
  EXPECT_EQ(run_of_many.peak_bytes, 5 * K);
  EXPECT_EQ(run_of_many.peak_step, 1);
}

TEST(TrainingRun, WorkspacesAreAllocatedOncePerThread) {
  const std::int64_t workspace = cublas_workspace_bytes("blackwell");
  EXPECT_EQ(workspace, std::int64_t{32} << 20);
  EXPECT_EQ(run({.steps = 3, .workspace_bytes = workspace}).peak_bytes,
            7 * K + 512 + 2 * workspace);
}

Graph flat_step() {
  return parse(R"(
    kind train_step
    device cuda
    w: f32[256] = parameter
    x: f32[256] = input
    a: f32[256] = aten.mul.Tensor(x, w)
    loss: f32[256] = aten.sin(a)
    c: f32[256] = aten.cos(a)                  {backward}
    gw: f32[256] = aten.mul.Tensor(c, x)       {backward}
    return [loss, gw]
  )");
}

TEST(TrainingRun, ATrainingStepKeepsItsLossAndGradientsUntilTheNextStep) {
  const Graph step = flat_step();
  const auto one = must(simulate_training(step, {.steps = 1}));
  // w, x, loss, gw, and the new optimizer state.
  EXPECT_EQ(one.peak_bytes, 6 * K + 512);
  EXPECT_EQ(one.peak_phase, LoopPhase::optimizer);
  const auto three = must(simulate_training(step, {.steps = 3}));
  // w, x, state, a, loss, c: the previous step's loss and gradient have been freed.
  EXPECT_EQ(three.peak_bytes, 7 * K + 512);
  EXPECT_EQ(three.peak_phase, LoopPhase::backward);
  EXPECT_EQ(three.peak_step, 2);
  EXPECT_EQ(step.name(three.peak_node), "c");
  EXPECT_EQ(three.forward_peak_bytes, 6 * K + 512);
  EXPECT_EQ(three.loss_peak_bytes, 0);
  for (const TrainingLoop& unfit :
       {TrainingLoop{.loss = LossModel::cross_entropy}, TrainingLoop{.boxed = false}}) {
    const auto refused = simulate_training(step, unfit);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, Error::Kind::usage);
  }
}

TEST(TrainingRun, ATrainingStepRunsOnOneThread) {
  const auto without = simulate_training(flat_step(), {.steps = 3});
  const auto with = simulate_training(flat_step(), {.steps = 3, .workspace_bytes = 64 * K});
  ASSERT_TRUE(without && with);
  EXPECT_EQ(with->peak_bytes, without->peak_bytes + 64 * K);
}

TEST(TrainingRun, RequiresAPair) {
  const Graph joint = parse(R"(
    x: f32[4] = input
    y: f32[4] = aten.sin(x)
    return [y]
  )");
  const auto refused = simulate_training(joint, {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("forward and a backward"), std::string::npos);
}

}  // namespace
}  // namespace jointer::test
