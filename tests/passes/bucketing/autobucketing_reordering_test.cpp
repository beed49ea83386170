#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/passes/run_pass.h"
#include "tests/support/graphs.h"
#include "tests/support/names.h"

namespace jointer::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Two layers. The second one's parameters can be gathered during the first one's product.
constexpr std::string_view kLayers = R"(
  group dp: 0 1
  x: bf16[4096,4096] = input
  p: bf16[2048,4096] = parameter
  q: bf16[2048,4096] = parameter
  ag_p: bf16[4096,4096] = _c10d_functional.all_gather_into_tensor(p, 2, 'dp')  {layers.0.w}
  wt_p: bf16[4096,4096] = _c10d_functional.wait_tensor(ag_p)  {layers.0.w}
  y: bf16[4096,4096] = aten.mm(x, wt_p)  {layers.0}
  ag_q: bf16[4096,4096] = _c10d_functional.all_gather_into_tensor(q, 2, 'dp')  {layers.1.w}
  wt_q: bf16[4096,4096] = _c10d_functional.wait_tensor(ag_q)  {layers.1.w}
  z: bf16[4096,4096] = aten.mm(y, wt_q)  {layers.1}
  return [z]
)";

TEST(Autobucketing, GathersDuringCompute) {
  const StepResult step =
      run_pass(parse(kLayers), "autobucketing_reordering{collective_bucketing=false}");
  const Graph& graph = *step.graph;
  // ag_p, wt_p, ag_q, y, wt_q, z
  EXPECT_TRUE(is_before(graph, "ag_q", "y"));
  EXPECT_TRUE(is_before(graph, "y", "wt_q"));
  EXPECT_LT(step.after.figures.exposed_ns, step.before.figures.exposed_ns);
  EXPECT_THAT(reason_of(step, "ag_q", "overlapped"), HasSubstr("overlaps with y"));
  EXPECT_THAT(reason_of(step, "ag_p", "exposed"),
              testing::MatchesRegex(".* are exposed; nothing overlaps with it; .+[.]"));
}

// The backward waits again for a collective that the forward saves.
TEST(Autobucketing, GathersDuringASavedCollective) {
  const StepResult step = run_pass(parse(R"(
    group dp: 0 1
    group tp: 0 2
    x: bf16[4096,4096] = input
    q: bf16[2048,4096] = parameter
    rs: bf16[2048,4096] = _c10d_functional.reduce_scatter_tensor(x, 'sum', 2, 'tp')
    wt_rs: bf16[2048,4096] = _c10d_functional.wait_tensor(rs)
    y: bf16[2048,4096] = aten.mm(wt_rs, x)
    ag_q: bf16[4096,4096] = _c10d_functional.all_gather_into_tensor(q, 2, 'dp')
    wt_q: bf16[4096,4096] = _c10d_functional.wait_tensor(ag_q)
    z: bf16[2048,4096] = aten.mm(y, wt_q)
    return [z, rs]
  )"),
                                   "autobucketing_reordering{torch_compatible=true}");
  const Graph& graph = *step.graph;
  EXPECT_TRUE(is_before(graph, "ag_q", "wt_rs"));
  EXPECT_TRUE(is_before(graph, "rs", "ag_q"));
}

// The result of the first product is freed before the second one's parameter is gathered.
constexpr std::string_view kOneAfterTheOther = R"(
  group dp: 0 1
  x: bf16[4096,4096] = input
  p: bf16[2048,4096] = parameter
  q: bf16[2048,4096] = parameter
  ag_p: bf16[4096,4096] = _c10d_functional.all_gather_into_tensor(p, 2, 'dp')
  wt_p: bf16[4096,4096] = _c10d_functional.wait_tensor(ag_p)
  y: bf16[4096,4096] = aten.mm(x, wt_p)
  s: bf16[] = aten.sum(y)
  ag_q: bf16[4096,4096] = _c10d_functional.all_gather_into_tensor(q, 2, 'dp')
  wt_q: bf16[4096,4096] = _c10d_functional.wait_tensor(ag_q)
  z: bf16[4096,4096] = aten.mm(x, wt_q)
  t: bf16[] = aten.sum(z)
  return [s, t]
)";

TEST(Autobucketing, KeepsTheMemoryLimit) {
  const Graph graph = parse(kOneAfterTheOther);
  const StepResult none = run_pass(
      graph, "autobucketing_reordering{max_memory_increase_gb=0,max_memory_increase_ratio=0}");
  EXPECT_EQ(none.after.figures.peak_bytes, none.before.figures.peak_bytes);
  PassContext::Options options = simple_costs();
  options.peak_limit = none.before.figures.peak_bytes;
  const StepResult limited = run_pass(graph, "autobucketing_reordering", options);
  EXPECT_LE(limited.after.figures.peak_bytes, none.before.figures.peak_bytes);
  const StepResult free = run_pass(graph, "autobucketing_reordering");
  EXPECT_GT(free.after.figures.peak_bytes, none.before.figures.peak_bytes);
  EXPECT_LT(free.after.figures.exposed_ns, none.after.figures.exposed_ns);
}

// Latency dominates the time of these collectives, and all can start at once.
constexpr std::string_view kSmall = R"(
  group dp: 0 1
  x: bf16[2048,2048] = input
  p: bf16[64] = parameter
  q: f32[64] = parameter
  ag_p: bf16[128] = _c10d_functional.all_gather_into_tensor(p, 2, 'dp')
  wt_p: bf16[128] = _c10d_functional.wait_tensor(ag_p)
  ag_q: f32[128] = _c10d_functional.all_gather_into_tensor(q, 2, 'dp')
  wt_q: f32[128] = _c10d_functional.wait_tensor(ag_q)
  y: bf16[2048,2048] = aten.mm(x, x)
  return [y, wt_p, wt_q]
)";

TEST(Autobucketing, MergesCollectivesDominatedByLatency) {
  EXPECT_EQ(run_pass(parse(kSmall), "autobucketing_reordering").after.collectives, 2U)
      << "mixed dtypes, since torch 2.15";
  const StepResult step =
      run_pass(parse(kSmall), "autobucketing_reordering{bucket_mode=custom_ops_multidtype}");
  EXPECT_EQ(step.after.collectives, 1U);
  EXPECT_EQ(step.merged, 2U);
  EXPECT_THAT(reason_of(step, "ag_p", "merged"), HasSubstr("Merged with ag_q"));
  // Two dtypes are sent as bytes.
  const Graph& graph = *step.graph;
  const Node& wait = node(graph, "wt_p");
  EXPECT_EQ(graph.target(wait), "aten.view.default");
  bool has_bytes = false;
  for (const NodeId id : graph.order())
    if (graph.is_collective_start(graph.node(id)))
      has_bytes = graph.single_tensor(graph.node(id))->dtype == DType::uint8;
  EXPECT_TRUE(has_bytes);
}

// Two gradients of parameters, and a gather of one parameter, so that the group is FSDP's.
constexpr std::string_view kGradients = R"(
  group dp: 0 1
  x: bf16[64,64] = input
  p: bf16[32,64] = parameter
  ag_p: bf16[64,64] = _c10d_functional.all_gather_into_tensor(p, 2, 'dp')
  wt_p: bf16[64,64] = _c10d_functional.wait_tensor(ag_p)
  y: bf16[64,64] = aten.mm(x, wt_p)
  rs_y: bf16[32,64] = _c10d_functional.reduce_scatter_tensor(y, 'avg', 2, 'dp')
  wr_y: bf16[32,64] = _c10d_functional.wait_tensor(rs_y)
  z: bf16[64,64] = aten.mm(y, wt_p)
  rs_z: bf16[32,64] = _c10d_functional.reduce_scatter_tensor(z, 'avg', 2, 'dp')
  wr_z: bf16[32,64] = _c10d_functional.wait_tensor(rs_z)
  return [wr_y, wr_z]
)";

std::size_t scatters(const StepResult& step) {
  std::size_t count = 0;
  for (const NodeId id : step.graph->order())
    if (const Node& n = step.graph->node(id); step.graph->is_collective_start(n))
      count += step.graph->op(n).collective == CollectiveKind::reduce_scatter ? 1 : 0;
  return count;
}

TEST(Autobucketing, BucketsFsdpCollectivesFirst) {
  // Each reduce-scatter runs during the other's product, which the schedule alone would keep.
  constexpr std::string_view kTorch = "autobucketing_reordering{torch_compatible=true";
  const StepResult step = run_pass(parse(kGradients), fmt::format("{}}}", kTorch));
  EXPECT_EQ(scatters(step), 1U);
  EXPECT_THAT(reason_of(step, "rs_y", "merged"), HasSubstr("before scheduling"));
  const StepResult small = run_pass(
      parse(kGradients),
      fmt::format(
          "{},pre_bucketing_fsdp_collectives_bucket_cap_mb=0.001,collective_bucketing=false}}",
          kTorch));
  EXPECT_EQ(scatters(small), 2U) << "buckets of 8 KiB each";
  const StepResult none = run_pass(
      parse(kGradients),
      fmt::format("{},pre_bucketing_fsdp_collectives=false,collective_bucketing=false}}", kTorch));
  EXPECT_EQ(scatters(none), 2U);
  Graph old = parse(kGradients);
  old.part(PartId(0)).torch_version = "2.11.0";
  EXPECT_EQ(scatters(run_pass(old, fmt::format("{},collective_bucketing=false}}", kTorch))), 2U)
      << "torch 2.11 does not bucket";
}

TEST(Autobucketing, ReduceScattersAsAList) {
  for (const std::string_view torch : {"false", "true"}) {
    const StepResult step = run_pass(
        parse(kGradients),
        fmt::format("autobucketing_reordering{{bucket_mode=coalesced,torch_compatible={}}}",
                    torch));
    const Graph& graph = *step.graph;
    std::size_t lists = 0;
    for (const NodeId id : graph.order())
      lists +=
          graph.target(graph.node(id)) == "_c10d_functional.reduce_scatter_tensor_coalesced.default"
              ? 1
              : 0;
    EXPECT_EQ(lists, 1U) << torch;
    EXPECT_EQ(scatters(step), 1U);
  }
}

TEST(Autobucketing, RefusesMeaninglessParameters) {
  for (const std::string_view parameter :
       {"insert_overlap_deps=true", "enable_fusion_regions=true",
        "log_final_collectives_estimations=true", "collective_estimator=benchmark",
        "compute_estimator=analytical", "custom_runtime_estimation=mine",
        "pge_profile_path=\"trace.json\"", "rules=torch-2.11,bucket_only_internode_comms=true",
        "rules=torch-2.11,bucket_mode=coalesced",
        "rules=torch-2.11,pre_bucketing_fsdp_collectives_bucket_cap_mb=1"}) {
    const auto pipeline = parse_pipeline(fmt::format("autobucketing_reordering{{{}}}", parameter));
    ASSERT_TRUE(pipeline) << parameter;
    const auto run = run_pipeline(parse(kGradients), *pipeline, built_in_passes(), simple_costs());
    ASSERT_TRUE(run && run->error) << parameter;
    EXPECT_EQ(run->error->kind, Error::Kind::usage) << run->error->message;
  }
  const StepResult defaults =
      run_pass(parse(kGradients),
               "autobucketing_reordering{insert_overlap_deps=false,enable_fusion_regions=false,"
               "log_final_collectives_estimations=false,collective_estimator=analytical,"
               "compute_estimator=benchmark,custom_runtime_estimation=none,pge_profile_path=none}");
  EXPECT_FALSE(defaults.decisions.empty());
}

TEST(Autobucketing, LeavesWrittenValuesSeparate) {
  std::string text(kSmall);
  const std::string from = "  y: bf16";
  text.insert(text.find(from), "  w: bf16[128] = aten.add_.Tensor(wt_p, wt_p)\n");
  const StepResult step = run_pass(parse(text), "autobucketing_reordering");
  EXPECT_EQ(step.after.collectives, 2U);
}

TEST(Autobucketing, EveryCollectiveHasAReason) {
  const Graph graph = parse(kLayers);
  for (const std::string_view pipeline :
       {"autobucketing_reordering", "autobucketing_reordering{torch_compatible=true}",
        "autobucketing_reordering{collective_bucketing=false}"}) {
    const StepResult step = run_pass(graph, pipeline);
    for (const NodeId id : step.graph->order()) {
      if (!step.graph->is_collective_start(step.graph->node(id))) continue;
      const auto is_told = [&](const Decision& d) {
        return d.node == step.graph->name(id) && !d.reason.empty();
      };
      EXPECT_TRUE(std::any_of(step.decisions.begin(), step.decisions.end(), is_told));
    }
  }
}

TEST(Autobucketing, CanBeCancelled) {
  PassContext::Options options = simple_costs();
  options.is_cancelled = [] { return true; };
  const auto run = run_pipeline(parse(kLayers), parse_pipeline("autobucketing_reordering").value(),
                                built_in_passes(), options);
  ASSERT_TRUE(run);
  ASSERT_TRUE(run->error);
  EXPECT_EQ(run->error->kind, Error::Kind::cancelled);
}

}  // namespace
}  // namespace jointer::test
