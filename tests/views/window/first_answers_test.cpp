#include "views/window/first_answers.h"

#include <gtest/gtest.h>

#include "tests/support/snapshots.h"
#include "views/session/text/number_text.h"

namespace jointer::views {
namespace {

SnapshotPtr small_step() {
  return test::snapshot_of(test::kSmallStep);
}

SnapshotPtr without_collectives() {
  return test::snapshot_of(R"(
    x: f32[64,64] = input
    y: f32[64,64] = aten.relu(x)
    return [y]
  )");
}

TEST(FirstAnswers, ThePeakHasItsBytesAndItsLargestTensor) {
  const SnapshotPtr snapshot = small_step();
  const FirstAnswer answer = answer_peak(*snapshot);
  const MemoryTimeline& memory = snapshot->analysis.memory;
  std::int64_t largest = 0;
  for (const std::size_t index : memory.alive_at(memory.peak_index()))
    largest = std::max(largest, memory.lifetimes()[index].bytes);
  EXPECT_TRUE(answer.text.contains(bytes_text(memory.peak_bytes()))) << answer.text.toStdString();
  ASSERT_TRUE(answer.node);
  EXPECT_EQ(snapshot->graph.output_bytes(snapshot->graph.node(answer.node)), largest);
}

TEST(FirstAnswers, TheMostExposedCollectiveIsNamed) {
  const SnapshotPtr snapshot = small_step();
  const FirstAnswer answer = answer_communication(*snapshot);
  ASSERT_TRUE(answer.node);
  EXPECT_EQ(snapshot->graph.name(answer.node), "ar");
  const auto& simulation = snapshot->analysis.simulation;
  std::int64_t exposed = 0;
  for (const CollectiveTiming& each : simulation.collectives())
    exposed = std::max(exposed, each.exposed_ns);
  for (const std::int64_t ns : {exposed, simulation.exposed_ns(), simulation.step_ns()})
    EXPECT_TRUE(answer.text.contains(time_text(ns))) << answer.text.toStdString();
  EXPECT_EQ(answer_what_if(*snapshot).node, answer.node);
}

TEST(FirstAnswers, AGraphWithoutCollectivesSaysSo) {
  const SnapshotPtr snapshot = without_collectives();
  EXPECT_FALSE(answer_communication(*snapshot).node);
  EXPECT_TRUE(answer_communication(*snapshot).text.contains("no collectives"));
  EXPECT_FALSE(answer_what_if(*snapshot).node);
  EXPECT_TRUE(answer_what_if(*snapshot).text.contains("Pipeline"));
}

TEST(FirstAnswers, AGraphWithOnlyHiddenCopiesHasNoCollectives) {
  const SnapshotPtr snapshot = test::snapshot_of(R"(
    x: f32[1024] = input
    w: f32[8192,8192] = input
    a: f32[1024] = aten.relu(x)
    device cpu
    off: f32[1024] = ao.offload(a)
    device cuda:0
    m: f32[8192,8192] = aten.mm(w, w)
    n: f32[8192,8192] = aten.mm(m, w)
    device cpu
    host: f32[1024] = ao.wait_tensor(off, a)
    device cuda:0
    return [n, host]
  )");
  const Simulation& simulation = snapshot->analysis.simulation;
  ASSERT_EQ(simulation.collectives().size(), 1U);
  ASSERT_FALSE(simulation.collectives().front().is_exposed());
  const QString text = answer_communication(*snapshot).text;
  EXPECT_TRUE(text.contains("no copy to or from the host is exposed")) << text.toStdString();
}

TEST(FirstAnswers, HiddenCommunicationIncludesCopies) {
  const SnapshotPtr snapshot = test::snapshot_of(R"(
    group tp: 0 1
    x: f32[1024] = input
    w: f32[8192,8192] = input
    a: f32[1024] = aten.relu(x)
    device cpu
    off: f32[1024] = ao.offload(a)
    device cuda:0
    ar: f32[1024] = _c10d_functional.all_reduce(a, 'sum', 'tp')
    m: f32[8192,8192] = aten.mm(w, w)
    n: f32[8192,8192] = aten.mm(m, w)
    wt: f32[1024] = _c10d_functional.wait_tensor(ar)
    device cpu
    host: f32[1024] = ao.wait_tensor(off, a)
    device cuda:0
    return [n, wt, host]
  )");
  const Simulation& simulation = snapshot->analysis.simulation;
  ASSERT_EQ(simulation.collective_count(), 1U);
  ASSERT_GT(simulation.transfer_ns(), 0);
  const QString text = answer_communication(*snapshot).text;
  EXPECT_TRUE(text.contains("No communication is exposed")) << text.toStdString();
  const std::int64_t all = simulation.communication_ns() + simulation.transfer_ns();
  ASSERT_NE(time_text(all), time_text(simulation.communication_ns()));
  EXPECT_TRUE(text.contains(time_text(all))) << text.toStdString();
}

}  // namespace
}  // namespace jointer::views
