// The effect of each reordering pass on a few nodes, and the reasons that it gives.

#include "passes/reordering/reordering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/graph/canonical.h"
#include "tests/support/graphs.h"
#include "tests/support/names.h"
#include "tests/support/run_pass.h"

namespace jointer::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two gathers that could start at once, and waits that nothing needs soon.
const char* const kTwoGathers = R"(
  group fsdp: 0 1
  x: f32[256,256] = input
  w1: f32[128,256] = parameter
  w2: f32[128,256] = parameter
  a: f32[256,256] = aten.mm(x, x)
  g1: f32[256,256] = _c10d_functional.all_gather_into_tensor(w1, 2, 'fsdp')
  v1: f32[256,256] = _c10d_functional.wait_tensor(g1)
  b: f32[256,256] = aten.mm(a, x)
  y1: f32[256,256] = aten.mm(b, v1)
  g2: f32[256,256] = _c10d_functional.all_gather_into_tensor(w2, 2, 'fsdp')
  v2: f32[256,256] = _c10d_functional.wait_tensor(g2)
  y2: f32[256,256] = aten.mm(y1, v2)
  return [y2]
)";

TEST(ReorderingTest, RaiseCommsStartsCollectivesEarly) {
  const Graph graph = parse(kTwoGathers);
  const auto steps = run_pipeline_text(graph, "raise_comms");
  EXPECT_THAT(calls_of(*steps[0].graph), ElementsAre("g1", "g2", "a", "v1", "b", "y1", "v2", "y2"));
  EXPECT_EQ(reason_of(steps[0], "g1"), "1 call earlier: it depends on no other call.");
  EXPECT_EQ(reason_of(steps[0], "g2"),
            "4 calls earlier: it follows g1, because collectives keep their order.");
}

TEST(ReorderingTest, CopiesToTheHostKeepTheirOrderAndTheReasonSaysSo) {
  const Graph graph = parse(R"(
    x: f32[262144] = input
    y: f32[262144] = input
    device cpu
    o1: f32[262144] = ao.offload(x)
    h1: f32[262144] = ao.wait_tensor(o1, x)
    device cuda:0
    a: f32[262144] = aten.sin(x)
    device cpu
    o2: f32[262144] = ao.offload(y)
    h2: f32[262144] = ao.wait_tensor(o2, y)
    return [h1, a, h2]
  )");
  const auto steps =
      run_pipeline_text(graph, "raise_comms,reorder_communication_preserving_peak_memory");
  EXPECT_THAT(calls_of(*steps[0].graph), ElementsAre("o1", "o2", "h1", "a", "h2"));
  EXPECT_EQ(
      reason_of(steps[0], "o2"),
      "2 calls earlier: it follows o1, because copies to and from the host keep their order.");
  EXPECT_THAT(reason_of(steps[1], "o2"),
              HasSubstr("o1 is a copy to or from the host on the same stream"));
}

TEST(ReorderingTest, SinkWaitsPutsWaitsRightBeforeTheirReaders) {
  const Graph graph = parse(kTwoGathers);
  const auto steps = run_pipeline_text(graph, "sink_waits");
  EXPECT_THAT(calls_of(*steps[0].graph), ElementsAre("a", "g1", "b", "g2", "v1", "y1", "v2", "y2"));
  EXPECT_EQ(reason_of(steps[0], "v1"), "2 calls later: y1 depends on it.");
}

TEST(ReorderingTest, ComputeMovesIntoACollectiveUntilItIsCovered) {
  const Graph graph = parse(R"(
    group fsdp: 0 1
    x: f32[256,256] = input
    w: f32[128,256] = parameter
    g: f32[256,256] = _c10d_functional.all_gather_into_tensor(w, 2, 'fsdp')
    v: f32[256,256] = _c10d_functional.wait_tensor(g)
    y: f32[256,256] = aten.mm(v, x)
    a: f32[256,256] = aten.mm(x, x)
    b: f32[256,256] = aten.mm(a, x)
    c: f32[256,256] = aten.mm(b, x)
    z: f32[256,256] = aten.mm(c, y)
    return [z]
  )");
  PassContext::Options options;
  // The gather takes 1.5 ms, a product 1 ms: two of them cover it.
  options.analysis.estimator.name = "simple{coll_us=1500,coll_gbs=1e9,tflops=0.033554432}";
  const auto steps = run_pipeline_text(graph, "reorder_compute_for_overlap", options);
  EXPECT_THAT(calls_of(*steps[0].graph), ElementsAre("g", "a", "b", "c", "v", "y", "z"));
  EXPECT_EQ(reason_of(steps[0], "a"), "It runs during g, of which 500 us are still exposed.");
  EXPECT_EQ(reason_of(steps[0], "b"), "It runs during g, of which 0 ms are still exposed.");
  EXPECT_EQ(reason_of(steps[0], "c"), "") << "waits come last anyway";
}

TEST(ReorderingTest, CollectivesMoveUpToOthersOfTheirGroup) {
  const Graph graph = parse(kTwoGathers);
  const auto steps = run_pipeline_text(
      graph,
      "reorder_communication_preserving_peak_memory{reorder_iterative_peak_memory_budget=9}");
  EXPECT_THAT(calls_of(*steps[0].graph), ElementsAre("g1", "g2", "a", "v1", "b", "y1", "v2", "y2"));
  EXPECT_THAT(reason_of(steps[0], "g1"), HasSubstr("limit: there is nothing"));
  EXPECT_THAT(reason_of(steps[0], "g2"), HasSubstr("g1 is a collective on the same stream"));
}

TEST(ReorderingTest, ABudgetLimitsMovesUp) {
  const Graph graph = parse(kTwoGathers);
  const auto peak = step_figures(graph, {})->figures.peak_bytes;
  const auto steps = run_pipeline_text(
      graph,
      "reorder_communication_preserving_peak_memory{reorder_iterative_peak_memory_budget=0}");
  EXPECT_EQ(steps[0].after.figures.peak_bytes, peak);
  EXPECT_THAT(reason_of(steps[0], "g2"), HasSubstr("memory: "));
  EXPECT_GT(steps[0].moved, 0U);
}

TEST(ReorderingTest, EveryPassKeepsTheLimitOfTheRun) {
  const Graph graph = parse(kTwoGathers);
  PassContext::Options options;
  options.peak_limit = step_figures(graph, {})->figures.peak_bytes;
  for (const char* pass : {"raise_comms", "sink_waits", "reorder_compute_for_overlap",
                           "reorder_communication_preserving_peak_memory", "sink_waits_iterative"})
    EXPECT_LE(run_pipeline_text(graph, pass, options)[0].after.figures.peak_bytes,
              *options.peak_limit)
        << pass;
  const auto steps = run_pipeline_text(graph, "raise_comms", options);
  EXPECT_EQ(graph_hash(*steps[0].graph), graph_hash(graph));
  EXPECT_THAT(reason_of(steps[0], ""), HasSubstr("Left unchanged: the peak would grow"));
  for (const Decision& each : steps[0].decisions) EXPECT_NE(each.action, "moved") << each.node;
}

TEST(ReorderingTest, APrefetchLimitLimitsMovesUp) {
  const Graph graph = parse(kTwoGathers);
  const auto steps = run_pipeline_text(
      graph, "reorder_communication_preserving_peak_memory{reorder_prefetch_limit=2}");
  EXPECT_THAT(calls_of(*steps[0].graph), ElementsAre("g1", "a", "v1", "g2", "b", "y1", "v2", "y2"));
  EXPECT_THAT(reason_of(steps[0], "g2"), HasSubstr("limit: reorder_prefetch_limit (2 calls)"));
}

// A collective is held only by others of its group; within a group they may be reordered if
// configured.
TEST(ReorderingTest, CollectivesOfOneGroupKeepTheirOrderUnlessConfigured) {
  const char* const kText = R"(
    group fsdp: 0 1
    group tp: 0 1
    x: f32[256,256] = input
    w: f32[128,256] = parameter
    a: f32[256,256] = aten.mm(x, x)
    r: f32[256,256] = _c10d_functional.all_reduce(a, 'sum', 'GROUP')
    g: f32[256,256] = _c10d_functional.all_gather_into_tensor(w, 2, 'fsdp')
    v: f32[256,256] = _c10d_functional.wait_tensor(g)
    s: f32[256,256] = _c10d_functional.wait_tensor(r)
    y: f32[256,256] = aten.mm(s, v)
    return [y]
  )";
  const auto text = [&](std::string group) {
    std::string made = kText;
    return made.replace(made.find("GROUP"), 5, group);
  };
  const std::string pass = "reorder_communication_preserving_peak_memory";
  const std::string unsafe = pass +
                             "{reorder_iterative_unsafe_collectives_reorder=true,"
                             "reorder_iterative_peak_memory_budget=9}";
  const auto first = [](const std::vector<StepResult>& steps) {
    return calls_of(*steps[0].graph).front();
  };
  EXPECT_EQ(first(run_pipeline_text(parse(text("fsdp")), pass)), "a");
  const auto overtaking = run_pipeline_text(parse(text("fsdp")), unsafe);
  EXPECT_EQ(first(overtaking), "g");
  EXPECT_THAT(overtaking[0].decisions,
              testing::Contains(testing::AllOf(testing::Field(&Decision::node, "r"),
                                               testing::Field(&Decision::action, "overtaken"))));
  EXPECT_EQ(first(run_pipeline_text(parse(text("tp")),
                                    pass + "{reorder_iterative_peak_memory_budget=9}")),
            "g");
}

TEST(ReorderingTest, InputsOfACollectiveMoveWithIt) {
  const Graph graph = parse(R"(
    group fsdp: 0 1
    x: f32[256,256] = input
    w: f32[128,256] = parameter
    a: f32[256,256] = aten.mm(x, x)
    c: bf16[128,256] = prims.convert_element_type(w, bf16)
    b: f32[256,256] = aten.mm(a, x)
    g: bf16[256,256] = _c10d_functional.all_gather_into_tensor(c, 2, 'fsdp')
    v: bf16[256,256] = _c10d_functional.wait_tensor(g)
    y: bf16[256,256] = aten.mm(v, v)
    return [y, b]
  )");
  const auto steps = run_pipeline_text(
      graph,
      "reorder_communication_preserving_peak_memory{reorder_iterative_peak_memory_budget=9}");
  EXPECT_THAT(calls_of(*steps[0].graph), ElementsAre("c", "g", "a", "b", "v", "y"));
  ASSERT_EQ(steps[0].tables.size(), 1U);
  const PassTable& table = steps[0].tables[0];
  EXPECT_EQ(table.rows[0].node, "g");
  EXPECT_EQ(table.columns[4].name, "moves");
  EXPECT_EQ(std::get<std::int64_t>(table.rows[0].cells[4]), 2);
  EXPECT_EQ(table.columns[8].name, "grouped");
  EXPECT_EQ(std::get<std::int64_t>(table.rows[0].cells[8]), 1);
  for (const PassTable::Row& row : table.rows) EXPECT_EQ(row.cells.size(), table.columns.size());
}

// A product moves along only with estimates.
TEST(ReorderingTest, AProductMovesWithACollectiveOnlyByEstimates) {
  const Graph graph = parse(R"(
    group tp: 0 1
    x: f32[256,256] = input
    a: f32[256,256] = aten.mm(x, x)
    b: f32[256,256] = aten.mm(x, x)
    r: f32[256,256] = _c10d_functional.all_reduce(b, 'sum', 'tp')
    v: f32[256,256] = _c10d_functional.wait_tensor(r)
    y: f32[256,256] = aten.mm(v, a)
    return [y]
  )");
  const std::string pass = "reorder_communication_preserving_peak_memory";
  const auto plain = run_pipeline_text(graph, pass);
  EXPECT_EQ(calls_of(*plain[0].graph).front(), "a");
  EXPECT_THAT(reason_of(plain[0], "r"), HasSubstr("it depends on b, a long-running call"));
  const auto estimated =
      run_pipeline_text(graph, pass +
                                   "{reorder_iterative_use_runtime_estimations=true,"
                                   "reorder_iterative_peak_memory_budget=9}");
  EXPECT_THAT(calls_of(*estimated[0].graph), ElementsAre("b", "r", "a", "v", "y"));
}

TEST(ReorderingTest, AHiddenCollectiveMovesNoFurther) {
  const Graph graph = parse(R"(
    group fsdp: 0 1
    x: f32[1024,1024] = input
    w: f32[2,2] = parameter
    a: f32[1024,1024] = aten.mm(x, x)
    b: f32[1024,1024] = aten.mm(a, x)
    g: f32[4,2] = _c10d_functional.all_gather_into_tensor(w, 2, 'fsdp')
    v: f32[4,2] = _c10d_functional.wait_tensor(g)
    return [b, v]
  )");
  PassContext::Options options;
  options.analysis.estimator.name = "simple{coll_us=1,tflops=1}";
  const auto steps = run_pipeline_text(graph,
                                       "reorder_communication_preserving_peak_memory{reorder_"
                                       "iterative_use_runtime_estimations=true}",
                                       options);
  EXPECT_THAT(calls_of(*steps[0].graph), ElementsAre("a", "g", "b", "v"));
  EXPECT_THAT(reason_of(steps[0], "g"), HasSubstr("it is hidden"));
}

TEST(ReorderingTest, WaitsSinkUntilTheNextCollective) {
  const Graph graph = parse(kTwoGathers);
  const auto steps = run_pipeline_text(graph, "sink_waits_iterative");
  EXPECT_THAT(calls_of(*steps[0].graph), ElementsAre("a", "g1", "b", "v1", "y1", "g2", "v2", "y2"));
  EXPECT_THAT(reason_of(steps[0], "v1"),
              HasSubstr("y1 depends on the wait and is a long-running call"));
}

// A view that reads the wait moves with it, so the next collective may or may not block it.
TEST(ReorderingTest, WaitsPassCollectivesOnlyIfConfigured) {
  const Graph graph = parse(R"(
    group fsdp: 0 1
    x: f32[256,256] = input
    w1: f32[128,256] = parameter
    w2: f32[128,256] = parameter
    g1: f32[256,256] = _c10d_functional.all_gather_into_tensor(w1, 2, 'fsdp')
    v1: f32[256,256] = _c10d_functional.wait_tensor(g1)
    t1: f32[256,256] = aten.t(v1)
    a: f32[256,256] = aten.mm(x, x)
    g2: f32[256,256] = _c10d_functional.all_gather_into_tensor(w2, 2, 'fsdp')
    b: f32[256,256] = aten.mm(a, x)
    v2: f32[256,256] = _c10d_functional.wait_tensor(g2)
    y: f32[256,256] = aten.mm(t1, v2)
    return [y, b]
  )");
  const auto plain = run_pipeline_text(graph, "sink_waits_iterative");
  EXPECT_THAT(calls_of(*plain[0].graph), ElementsAre("g1", "a", "v1", "t1", "g2", "b", "v2", "y"));
  EXPECT_THAT(reason_of(plain[0], "v1"), HasSubstr("g2 is a collective"));
  const auto over =
      run_pipeline_text(graph,
                        "sink_waits_iterative{sink_waits_iterative_swap_with_collectives=true,"
                        "sink_iterative_peak_memory_budget=9}");
  EXPECT_THAT(calls_of(*over[0].graph), ElementsAre("g1", "a", "g2", "b", "v2", "v1", "t1", "y"));
}

// A collective's inputs stay live until its wait, so moving the wait down keeps them longer.
TEST(ReorderingTest, ABudgetLimitsMovesDown) {
  const Graph graph = parse(R"(
    group tp: 0 1
    x: f32[256,256] = input
    a: f32[256,256] = aten.mm(x, x)
    r: f32[256,256] = _c10d_functional.all_reduce(a, 'sum', 'tp')
    v: f32[256,256] = _c10d_functional.wait_tensor(r)
    b: f32[256,256] = aten.mm(x, x)
    c: f32[256,256] = aten.mm(b, b)
    y: f32[256,256] = aten.mm(v, c)
    return [y]
  )");
  const auto steps =
      run_pipeline_text(graph, "sink_waits_iterative{sink_iterative_peak_memory_budget=0}");
  EXPECT_THAT(calls_of(*steps[0].graph), ElementsAre("a", "r", "b", "v", "c", "y"));
  EXPECT_THAT(reason_of(steps[0], "v"), HasSubstr("memory: "));
}

TEST(ReorderingTest, HalvesOfAPairAreOrderedSeparately) {
  const Graph graph = parse(R"(
    kind train_step
    x: f32[64,64] = input
    a: f32[64,64] = aten.relu(x)
    b: f32[64,64] = aten.mm(a, x)
    return [b]
  )");
  const auto steps = run_pipeline_text(graph, "reorder_for_peak_memory,sink_waits,raise_comms");
  EXPECT_EQ(graph_hash(*steps[2].graph), graph_hash(graph)) << "nothing to move";
  EXPECT_TRUE(steps[0].edit.changes.empty());
}

TEST(ReorderingTest, TheOrderWithTheLowestPeakWins) {
  // Both large tensors are live at once, though each is needed only for its small sum.
  const Graph graph = parse(R"(
    x: f32[4] = input
    big1: f32[1024,1024] = aten.full([1024, 1024], 1.0)
    big2: f32[1024,1024] = aten.full([1024, 1024], 2.0)
    s1: f32[] = aten.sum(big1)
    s2: f32[] = aten.sum(big2)
    y: f32[] = aten.add.Tensor(s1, s2)
    return [y]
  )");
  const auto steps = run_pipeline_text(graph, "reorder_for_peak_memory");
  EXPECT_THAT(calls_of(*steps[0].graph), ElementsAre("big1", "s1", "big2", "s2", "y"));
  EXPECT_LT(steps[0].after.figures.peak_bytes, steps[0].before.figures.peak_bytes);
  ASSERT_EQ(steps[0].tables.size(), 1U);
  EXPECT_EQ(steps[0].tables[0].rows.size(), 4U);
  EXPECT_THAT(reason_of(steps[0], ""), HasSubstr("the order computed by lpmf"));
  const auto baseline = run_pipeline_text(graph, "reorder_for_peak_memory{methods=[baseline]}");
  EXPECT_EQ(graph_hash(*baseline[0].graph), graph_hash(graph));
}

TEST(ReorderingTest, AConstantComesBeforeItsReader) {
  const Graph graph = parse(R"(
    group fsdp: 0 1
    x: f32[256,256] = input
    a: f32[256,256] = aten.mm(x, x)
    k: f32[128,256] = constant
    g: f32[256,256] = _c10d_functional.all_gather_into_tensor(k, 2, 'fsdp')
    v: f32[256,256] = _c10d_functional.wait_tensor(g)
    y: f32[256,256] = aten.mm(v, a)
    return [y]
  )");
  const auto steps = run_pipeline_text(graph, "raise_comms");
  EXPECT_THAT(calls_of(*steps[0].graph), ElementsAre("g", "a", "v", "y"));
  EXPECT_LT(steps[0].graph->position(steps[0].graph->find("k")),
            steps[0].graph->position(steps[0].graph->find("g")));
}

TEST(ReorderingTest, TheDispatcherRunsThePassesOfItsList) {
  const Graph graph = parse(kTwoGathers);
  const auto both = run_pipeline_text(
      graph,
      "reorder_compute_and_comm_for_overlap{passes=[raise_comms,sink_waits_iterative],"
      "sink_iterative_peak_memory_budget=1}");
  const auto one_by_one = run_pipeline_text(
      graph, "raise_comms,sink_waits_iterative{sink_iterative_peak_memory_budget=1}");
  EXPECT_EQ(graph_hash(*both[0].graph), graph_hash(*one_by_one[1].graph));
  EXPECT_EQ(both[0].tables, one_by_one[1].tables);
  const auto none = run_pipeline_text(graph, "reorder_compute_and_comm_for_overlap");
  EXPECT_EQ(graph_hash(*none[0].graph), graph_hash(graph));
}

TEST(ReorderingTest, ProgressOfADispatcherIsMonotone) {
  PassContext::Options options;
  std::vector<double> reported;
  options.report = [&](double done) { reported.push_back(done); };
  run_pipeline_text(parse(kTwoGathers),
                    "reorder_compute_and_comm_for_overlap{passes=[raise_comms,"
                    "reorder_communication_preserving_peak_memory,sink_waits_iterative]}",
                    options);
  ASSERT_GT(reported.size(), 2U);
  EXPECT_TRUE(std::is_sorted(reported.begin(), reported.end()));
  EXPECT_GT(reported.back(), 0.5);
}

TEST(ReorderingTest, TheOrderOfCollectivesIsReported) {
  const Graph graph = parse(kTwoGathers);
  const auto steps = run_pipeline_text(graph, "decide_global_ordering_of_comms");
  EXPECT_EQ(graph_hash(*steps[0].graph), graph_hash(graph));
  EXPECT_EQ(reason_of(steps[0], "g2"), "Number 2: it follows g1.");
  ASSERT_EQ(steps[0].tables[0].rows.size(), 2U);
}

TEST(ReorderingTest, TheOrderOfCollectivesContinuesBehindAnInput) {
  const Graph graph = parse(R"(
    group dp: 0 1
    x: f32[64] = input
    a: f32[64] = _c10d_functional.all_reduce(x, 'sum', 'dp')
    v: f32[64] = _c10d_functional.wait_tensor(a)
    dy: f32[64] = tangent
    b: f32[64] = _c10d_functional.all_reduce(dy, 'sum', 'dp')  {backward}
    w: f32[64] = _c10d_functional.wait_tensor(b)  {backward}
    return [v, w]
  )");
  const auto steps = run_pipeline_text(graph, "decide_global_ordering_of_comms");
  EXPECT_EQ(reason_of(steps[0], "a"), "Number 1: it follows no other collective.");
  EXPECT_EQ(reason_of(steps[0], "b"), "Number 2: it follows a.");
}

TEST(ReorderingTest, FsdpCollectivesAlternate) {
  const Graph graph = parse(R"(
    group fsdp: 0 1
    x: f32[64] = input
    w1: f32[32] = parameter
    w2: f32[32] = parameter
    c1: (f32[32], f32[64]) = fsdp.all_gather_copy_in([w1], [32], 32, 2, 0)
    i1: f32[32] = c1[0]
    c2: (f32[32], f32[64]) = fsdp.all_gather_copy_in([w2], [32], 32, 2, 0)
    i2: f32[32] = c2[0]
    g1: f32[64] = _c10d_functional.all_gather_into_tensor(i1, 2, 'fsdp')
    g2: f32[64] = _c10d_functional.all_gather_into_tensor(i2, 2, 'fsdp')
    v1: f32[64] = _c10d_functional.wait_tensor(g1)
    v2: f32[64] = _c10d_functional.wait_tensor(g2)
    a: f32[64] = aten.mul.Tensor(x, v1)
    y: f32[64] = aten.mul.Tensor(a, v2)
    return [y]
  )");
  const auto steps = run_pipeline_text(graph, "enforce_comm_ordering_for_fsdp");
  EXPECT_THAT(calls_of(*steps[0].graph),
              ElementsAre("c1", "i1", "g1", "v1", "c2", "i2", "g2", "v2", "a", "y"));
  EXPECT_EQ(reason_of(steps[0], "g2"), "It takes its turn after g1.");
  const auto other = run_pipeline_text(parse(kTwoGathers), "enforce_comm_ordering_for_fsdp");
  EXPECT_EQ(graph_hash(*other[0].graph), graph_hash(parse(kTwoGathers)));
  EXPECT_THAT(reason_of(other[0], ""), HasSubstr("does not come from traceable FSDP2"));
}

TEST(ReorderingTest, FsdpReducedGradientsAlternate) {
  const Graph graph = parse(R"(
    group fsdp: 0 1
    g1: f32[64] = tangent
    g2: f32[64] = tangent
    c1: f32[2,32] = fsdp.chunk_cat([g1], 0, 2)
    c2: f32[2,32] = fsdp.chunk_cat([g2], 0, 2)
    r1: f32[1,32] = _c10d_functional.reduce_scatter_tensor(c1, 'sum', 2, 'fsdp')
    r2: f32[1,32] = _c10d_functional.reduce_scatter_tensor(c2, 'sum', 2, 'fsdp')
    v1: f32[1,32] = _c10d_functional.wait_tensor(r1)
    v2: f32[1,32] = _c10d_functional.wait_tensor(r2)
    y1: f32[1,32] = aten.neg(v1)
    y2: f32[1,32] = aten.neg(v2)
    return [y1, y2]
  )");
  const auto steps =
      run_pipeline_text(graph, "enforce_comm_ordering_for_fsdp,enforce_comm_ordering_for_fsdp");
  EXPECT_THAT(calls_of(*steps[0].graph),
              ElementsAre("c1", "r1", "v1", "y1", "c2", "r2", "v2", "y2"));
  EXPECT_EQ(graph_hash(*steps[1].graph), graph_hash(*steps[0].graph));
}

TEST(ReorderingTest, FsdpCollectivesWithoutWaitsAreKept) {
  const auto steps = run_pipeline_text(parse(R"(
    group fsdp: 0 1
    g1: f32[64] = tangent
    c1: f32[2,32] = fsdp.chunk_cat([g1], 0, 2)
    r1: f32[1,32] = _c10d_functional.reduce_scatter_tensor(c1, 'sum', 2, 'fsdp')
    return [r1]
  )"),
                                       "enforce_comm_ordering_for_fsdp");
  EXPECT_EQ(reason_of(steps[0], "r1"), "Nothing waits for this collective.");
  EXPECT_EQ(steps[0].decisions.size(), 1U);
}

// The second gather's input is computed from the first one's result, so they cannot alternate.
TEST(ReorderingTest, DependentBlocksKeepTheirOrder) {
  const Graph graph = parse(R"(
    group fsdp: 0 1
    g1: f32[64] = tangent
    c1: f32[2,32] = fsdp.chunk_cat([g1], 0, 2)
    a: f32[2,32] = aten.neg(c1)
    c2: f32[2,32] = fsdp.chunk_cat([a], 0, 2)
    b: f32[2,32] = aten.neg(c2)
    r1: f32[1,32] = _c10d_functional.reduce_scatter_tensor(b, 'sum', 2, 'fsdp')
    v1: f32[1,32] = _c10d_functional.wait_tensor(r1)
    return [v1]
  )");
  const auto steps = run_pipeline_text(graph, "enforce_comm_ordering_for_fsdp");
  EXPECT_EQ(graph_hash(*steps[0].graph), graph_hash(graph));
}

TEST(ReorderingTest, AGraphWithoutCallsIsUnchanged) {
  const Graph graph = parse(R"(
    x: f32[4] = input
    return [x]
  )");
  for (const Pass& pass : reordering_passes())
    EXPECT_EQ(graph_hash(*run_pipeline_text(graph, pass.info.name)[0].graph), graph_hash(graph))
        << pass.info.name;
}

TEST(ReorderingTest, CanBeCancelled) {
  const Graph graph = parse(kTwoGathers);
  for (const char* pass :
       {"raise_comms", "reorder_communication_preserving_peak_memory", "sink_waits_iterative",
        "reorder_for_peak_memory", "decide_global_ordering_of_comms",
        "reorder_compute_and_comm_for_overlap{passes=[sink_waits_iterative]}"}) {
    PassContext::Options options;
    options.is_cancelled = [] { return true; };
    const auto done = run_pipeline(graph, *parse_pipeline(pass), built_in_passes(), options);
    ASSERT_TRUE(done);
    ASSERT_TRUE(done->error) << pass;
    EXPECT_EQ(done->error->kind, Error::Kind::cancelled);
  }
}

}  // namespace
}  // namespace jointer::test
