#include "core/capture/measured_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "core/schedule/simulation.h"
#include "tests/support/graphs.h"
#include "tests/support/must.h"
#include "tests/support/profiler_trace_text.h"

namespace jointer::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kStep = R"(
  group tp: 0 1
  x: f32[64,64] = input
  w: f32[64,64] = parameter
  g: f32[128,64] = _c10d_functional.all_gather_into_tensor(w, 2, 'tp')
  a: f32[64,64] = aten.add.Tensor(x, 1)
  m: f32[64,64] = aten.mm(a, w)
  wt: f32[128,64] = _c10d_functional.wait_tensor(g)
  r: f32[64,64] = aten.relu(m)
  return [r, wt]
)";

ProfilerTraceText trace() {
  return ProfilerTraceText()
      .gpu()
      .compiled_graph("f", 0, 90)
      .call("_c10d_functional::all_gather_into_tensor", 1,
            {{"ncclDevKernel_AllGather_RING_LL", 100, 400, 21}})
      .call("triton_poi_fused_add_0", 11, {{"triton_poi_fused_add_0", 100, 40}})
      .call("aten::mm", 21, {{"nvjet_tst", 150, 90}});
}

TEST(MeasuredStep, MeasuredTimesReplaceEstimates) {
  const Graph graph = parse(kStep);
  const AnalysisOptions options{
      .memory = {}, .estimator = {}, .simulation = {}, .execution = Execution::inductor};
  const CompiledTrace read = must(read_compiled_trace("dir/t.json", PaddedBytes(trace().text())));
  const MeasuredKernelTimes times = must(measured_kernel_times(read, graph));
  EXPECT_EQ(times.source, "t.json");
  const Analysis estimated = must(analyze_step(graph, options));
  const Analysis measured = must(analyze_step(graph, options, &times));
  const auto ns = [&](const Analysis& analysis, const char* name) {
    return analysis.costs[graph.find(name).index()].ns;
  };
  EXPECT_EQ(ns(measured, "a"), 40'000);
  EXPECT_EQ(ns(measured, "m"), 90'000);
  EXPECT_EQ(ns(measured, "g"), 400'000);
  EXPECT_EQ(ns(measured, "r"), ns(estimated, "r")) << "not in the trace";
  EXPECT_EQ(measured.costs[graph.find("m").index()].limit, NodeCost::Limit::given);
  EXPECT_GE(measured.simulation.step_ns(), 400'000);
  EXPECT_LT(estimated.simulation.step_ns(), 400'000);
  const std::vector<kernels::Kernel>& kernels = measured.compiled->parts[0].scheduled.kernels;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (kernels[i].kind == kernels::Kernel::Kind::external) {
      EXPECT_EQ(measured.compiled->times[0][i].ns, 90'000);
    }
  EXPECT_THAT(measured.estimator, HasSubstr("3 of 4 kernels measured (t.json)"));
  // Plans are still computed from the costs of running operator by operator.
  EXPECT_EQ(measured.operator_costs[graph.find("g").index()].ns,
            estimated.operator_costs[graph.find("g").index()].ns);
}

TEST(MeasuredStep, ATraceOfAnotherModelIsAnError) {
  const Graph graph = parse("x: f32[4] = input\nc: f32[4] = aten.cos(x)\nreturn [c]");
  const CompiledTrace read = must(read_compiled_trace(
      "t.json",
      PaddedBytes(ProfilerTraceText()
                      .gpu()
                      .compiled_graph("f", 0, 90)
                      .call("triton_red_fused_sum_0", 1, {{"triton_red_fused_sum_0", 9, 4}})
                      .text())));
  const auto times = measured_kernel_times(read, graph);
  ASSERT_FALSE(times);
  EXPECT_THAT(times.error().message, HasSubstr("no compiled graph in the trace"));
}

}  // namespace
}  // namespace jointer::test
