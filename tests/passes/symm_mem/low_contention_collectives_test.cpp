#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/passes/run_pass.h"
#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

// Weights that are gathered during a product, gradients that are scattered without compute.
constexpr std::string_view kText = R"(
  group dp: 0 1
  group tp: 0 2
  x: f32[64,64] = input
  w: f32[32,64] = parameter
  ag: f32[64,64] = _c10d_functional.all_gather_into_tensor(w, 2, 'dp')
  mm: f32[64,64] = aten.mm(x, x)
  full: f32[64,64] = _c10d_functional.wait_tensor(ag)
  y: f32[64,64] = aten.mm(mm, full)
  rs: f32[32,64] = _c10d_functional.reduce_scatter_tensor(y, 'sum', 2, 'dp')
  g: f32[32,64] = _c10d_functional.wait_tensor(rs)
  return [g]
)";

std::string_view target_of(const Graph& graph, std::string_view reader) {
  return graph.target(graph.node(graph.inputs(graph.find(reader))[0]));
}

TEST(LowContention, ReplacesCollectivesThatComputeHides) {
  const StepResult step = run_pass(parse(kText), "low_contention_collectives{min_bytes=0}");
  const Graph& graph = *step.graph;
  EXPECT_EQ(target_of(graph, "full"), "symm_mem._low_contention_all_gather.default");
  EXPECT_EQ(target_of(graph, "g"), "_c10d_functional.reduce_scatter_tensor.default");
  EXPECT_THAT(reason_of(step, "rs", "kept"), HasSubstr("no compute"));
  // It is a collective like the original: it has a wait, and takes the same time.
  const NodeId start = graph.inputs(graph.find("full"))[0];
  EXPECT_TRUE(graph.is_collective_start(graph.node(start)));
  EXPECT_EQ(graph.collective_of_wait(graph.node(graph.find("full"))), start);
  EXPECT_EQ(graph.group_size(graph.node(start)), 2);
  EXPECT_EQ(step.after.figures.step_ns, step.before.figures.step_ns);
  EXPECT_EQ(step.after.figures.peak_bytes, step.before.figures.peak_bytes);
}

TEST(LowContention, ReplacesAllIfConfigured) {
  const StepResult step =
      run_pass(parse(kText), "low_contention_collectives{min_bytes=0,skip_overlap_check=true}");
  const Graph& graph = *step.graph;
  EXPECT_EQ(target_of(graph, "g"), "symm_mem._low_contention_reduce_scatter.default");
  const NodeId start = graph.inputs(graph.find("g"))[0];
  EXPECT_EQ(graph.args(graph.node(start)).size(), 3U);
  EXPECT_EQ(graph.op(graph.node(start)).collective, CollectiveKind::reduce_scatter);
}

TEST(LowContention, KeepsSmallCollectivesAndOtherGroups) {
  // 32 * 64 floats per rank are 8 KiB.
  const Graph graph = parse(kText);
  EXPECT_THAT(
      reason_of(run_pass(graph, "low_contention_collectives{min_bytes=8193}"), "ag", "kept"),
      HasSubstr("a rank sends 8"));
  EXPECT_EQ(reason_of(run_pass(graph, "low_contention_collectives{min_bytes=8192}"), "ag", "kept"),
            "");
  EXPECT_THAT(reason_of(run_pass(graph, "low_contention_collectives{min_bytes=0,groups=[tp]}"),
                        "ag", "kept"),
              HasSubstr("not in `groups`"));
}

TEST(LowContention, RefusesUnknownGroups) {
  EXPECT_THAT(
      [] { run_pass(parse(kText), "low_contention_collectives{groups=[tp,dpp]}"); },
      Throws<std::runtime_error>(Property(
          &std::runtime_error::what,
          HasSubstr(
              "groups: expected a process group in the graph, got `dpp`; the graph has dp, tp"))));
}

TEST(LowContention, KeepsCollectivesThatShareTheirLinks) {
  const StepResult step = run_pass(parse(R"(
  group dp: 0 1
  group tp: 0 2
  x: f32[64,64] = input
  w: f32[32,64] = parameter
  ag: f32[64,64] = _c10d_functional.all_gather_into_tensor(w, 2, 'dp')
  other: f32[64,64] = _c10d_functional.all_gather_into_tensor(w, 2, 'tp')
  mm: f32[64,64] = aten.mm(x, x)
  full: f32[64,64] = _c10d_functional.wait_tensor(ag)
  more: f32[64,64] = _c10d_functional.wait_tensor(other)
  return [mm, full, more]
)"),
                                   "low_contention_collectives{min_bytes=0}");
  EXPECT_THAT(reason_of(step, "ag", "kept"), HasSubstr("other of group tp"));
  EXPECT_EQ(target_of(*step.graph, "more"), "symm_mem._low_contention_all_gather.default");
}

TEST(LowContention, NamesNoGroupThatIsComputedInTheGraph) {
  const StepResult step = run_pass(parse(R"(
  group dp: 0 1
  x: f32[64,64] = input
  w: f32[32,64] = parameter
  tp: i64[] = input
  ag: f32[64,64] = _c10d_functional.all_gather_into_tensor(w, 2, 'dp')
  other: f32[64,64] = _c10d_functional.all_gather_into_tensor(w, 2, tp)
  mm: f32[64,64] = aten.mm(x, x)
  full: f32[64,64] = _c10d_functional.wait_tensor(ag)
  more: f32[64,64] = _c10d_functional.wait_tensor(other)
  return [mm, full, more]
)"),
                                   "low_contention_collectives{min_bytes=0}");
  EXPECT_THAT(reason_of(step, "ag", "kept"),
              HasSubstr("other, whose group is computed in the graph, overlaps with it"));
  EXPECT_EQ(reason_of(step, "other", "kept"), "its group is computed in the graph");
}

TEST(LowContention, GathersIntoGivenMemoryByMulticast) {
  const Graph graph = parse(R"(
  group dp: 0 1
  x: f32[64,64] = input
  w: f32[32,64] = parameter
  room: f32[64,64] = aten.empty.memory_format([64, 64])
  ag: f32[64,64] = _c10d_functional.all_gather_into_tensor_out(w, 2, 'dp', out=room)
  mm: f32[64,64] = aten.mm(x, x)
  full: f32[64,64] = _c10d_functional.wait_tensor(ag)
  return [mm, full]
)");
  EXPECT_THAT(reason_of(run_pass(graph, "low_contention_collectives{min_bytes=0}"), "ag", "kept"),
              HasSubstr("multicast"));
  const StepResult step =
      run_pass(graph, "low_contention_collectives{min_bytes=0,ce_multicast=true}");
  EXPECT_EQ(target_of(*step.graph, "full"),
            "symm_mem._low_contention_all_gather_ce_multicast_out.default");
  EXPECT_EQ(step.after.figures.peak_bytes, step.before.figures.peak_bytes);
}

}  // namespace
}  // namespace jointer::test
