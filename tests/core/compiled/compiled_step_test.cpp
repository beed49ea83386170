// The step as torch's compiler runs it: times, launches and memory.

#include "core/compiled/compiled_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/compiled/compiled_lives.h"
#include "core/open/open.h"
#include "tests/support/graphs.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"

namespace jointer::test {
namespace {

using ::testing::HasSubstr;

constexpr std::array kExecutions{Execution::eager, Execution::regional, Execution::inductor,
                                 Execution::cudagraph};

Analysis executed(const Graph& graph, Execution execution) {
  return must(analyze_step(
      graph,
      {.memory = {}, .estimator = {.device = "h100"}, .simulation = {}, .execution = execution}));
}

constexpr std::string_view kChain = R"(
  x: f32[4096,4096] = input
  e: f32[4096,4096] = aten.exp(x)
  m: f32[4096,4096] = aten.mul.Tensor(e, x)
  a: f32[4096,4096] = aten.add.Tensor(m, e)
  p: f32[4096,4096] = aten.mm(a, a)
  return [p]
)";

TEST(CompiledStep, ReservesAndTakesWhatItsMemoryAndItsCostsGive) {
  const Graph graph = parse(kChain);
  for (const Execution execution : {Execution::eager, Execution::inductor, Execution::cudagraph}) {
    const Analysis analysis = executed(graph, execution);
    EXPECT_EQ(analysis.reserved.bytes,
              simulate_reserved(analysis.memory, analysis.memory.device()).bytes);
    EXPECT_EQ(analysis.reserved.bytes.size(), analysis.memory.profile().size());
    std::int64_t ns = 0;
    for (const NodeCost& cost : analysis.costs) ns += cost.ns;
    EXPECT_EQ(analysis.simulation.compute_ns(), ns);
    const Throughput rates = throughput(analysis.model, analysis.total_flops.total,
                                        analysis.simulation.step_ns(), analysis.device);
    EXPECT_EQ(analysis.throughput.hardware_tflops, rates.hardware_tflops);
  }
}

TEST(CompiledStep, GivesTheTimeOfAKernelToItsFirstCall) {
  const Graph graph = parse(kChain);
  const Analysis eager = executed(graph, Execution::eager);
  const Analysis compiled = executed(graph, Execution::inductor);
  const auto cost = [&](const char* name) { return compiled.costs[graph.find(name).index()]; };
  EXPECT_GT(cost("e").ns, 0);
  EXPECT_EQ(cost("e").lane, NodeCost::Lane::compute);
  EXPECT_EQ(cost("e").limit, NodeCost::Limit::memory);
  EXPECT_EQ(cost("m").ns, 0);
  EXPECT_EQ(cost("m").host_ns, 0);
  EXPECT_EQ(cost("a").ns, 0);
  // A matrix product is a call of the library.
  EXPECT_EQ(cost("p").ns, eager.costs[graph.find("p").index()].ns);
  EXPECT_LT(compiled.simulation.compute_ns(), eager.simulation.compute_ns());
  EXPECT_EQ(compiled.options.execution, Execution::inductor);
  EXPECT_THAT(compiled.estimator, HasSubstr("kernels as predicted for Inductor in torch"));
  // The costs of running operator by operator stay.
  ASSERT_EQ(compiled.costs_of_operators().size(), eager.costs.size());
  EXPECT_EQ(compiled.costs_of_operators()[graph.find("m").index()].ns,
            eager.costs[graph.find("m").index()].ns);
}

TEST(CompiledStep, CanBeCancelledAtAnyMoment) {
  const Graph graph = parse(kChain);
  const AnalysisOptions options{.memory = {},
                                .estimator = {.device = "h100"},
                                .simulation = {},
                                .execution = Execution::inductor};
  int polls = 0;
  const Analysis whole =
      must(analyze_step(graph, options, nullptr, [&polls] { return ++polls < 0; }));
  EXPECT_EQ(whole.costs[graph.find("e").index()].ns,
            executed(graph, Execution::inductor).costs[graph.find("e").index()].ns);
  ASSERT_GE(polls, 4) << "before and after the analysis, and after the kernels";
  for (int last = 0; last < polls; ++last) {
    int left = last;
    const auto cancelled = analyze_step(graph, options, nullptr, [&left] { return left-- <= 0; });
    ASSERT_FALSE(cancelled) << last;
    EXPECT_EQ(cancelled.error().kind, Error::Kind::cancelled);
  }
}

TEST(CompiledStep, ValuesThatNeverLeaveAKernelHaveNoMemory) {
  const Graph graph = parse(kChain);
  const Analysis eager = executed(graph, Execution::eager);
  const Analysis compiled = executed(graph, Execution::inductor);
  constexpr std::int64_t kTensorSize = 4096LL * 4096 * 4;
  EXPECT_FALSE(compiled.memory.lifetime_of(storage_of(graph, "e")));
  EXPECT_FALSE(compiled.memory.lifetime_of(storage_of(graph, "m")));
  ASSERT_TRUE(compiled.memory.lifetime_of(storage_of(graph, "a")));
  const Lifetime& sum =
      compiled.memory.lifetimes()[*compiled.memory.lifetime_of(storage_of(graph, "a"))];
  EXPECT_EQ(sum.bytes, kTensorSize);
  EXPECT_EQ(eager.memory.peak_bytes(), 4 * kTensorSize);
  EXPECT_LT(compiled.memory.peak_bytes(), eager.memory.peak_bytes());
  EXPECT_EQ(compiled.memory.peak_bytes(),
            compiled_peak(graph, eager.memory, compiled.compiled->parts.front()));
}

TEST(CompiledStep, LaunchesAKernelOnceAndACudaGraphOnce) {
  const Graph graph = parse(kChain);
  const auto host_ns = [&](Execution execution) {
    std::int64_t sum = 0;
    for (const NodeCost& cost : executed(graph, execution).costs) sum += cost.host_ns;
    return sum;
  };
  const Analysis eager = executed(graph, Execution::eager);
  const std::int64_t launch = eager.costs[graph.find("e").index()].host_ns;
  EXPECT_EQ(host_ns(Execution::eager), 4 * launch);
  EXPECT_EQ(host_ns(Execution::inductor), 2 * launch);
  EXPECT_EQ(host_ns(Execution::cudagraph), launch);
  EXPECT_EQ(executed(graph, Execution::cudagraph).memory.peak_bytes(),
            executed(graph, Execution::inductor).memory.peak_bytes());
}

TEST(CompiledStep, KeepsTheTimesOfCollectives) {
  const Graph graph = parse(R"(
    group tp: 0 1
    x: f32[4096,4096] = input
    e: f32[4096,4096] = aten.exp(x)
    ar: f32[4096,4096] = _c10d_functional.all_reduce(e, 'sum', 'tp')
    wt: f32[4096,4096] = _c10d_functional.wait_tensor(ar)
    y: f32[4096,4096] = aten.exp(wt)
    return [y]
  )");
  const Analysis eager = executed(graph, Execution::eager);
  const Analysis compiled = executed(graph, Execution::inductor);
  EXPECT_EQ(compiled.simulation.communication_ns(), eager.simulation.communication_ns());
  EXPECT_GT(compiled.simulation.communication_ns(), 0);
  ASSERT_EQ(compiled.simulation.collectives().size(), 1U);
  EXPECT_EQ(compiled.simulation.collectives()[0].wait, graph.find("wt"));
}

TEST(CompiledStep, RefusesWhatCannotRun) {
  const Graph on_cpu = parse(R"(
    device cpu
    x: f32[8,8] = input
    y: f32[8,8] = aten.exp(x)
    return [y]
  )");
  const auto refused = check_execution(on_cpu, Execution::cudagraph);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Error::Kind::usage);
  EXPECT_THAT(refused.error().message, HasSubstr("no CUDA graphs"));
  const auto unmarked = check_execution(on_cpu, Execution::regional);
  ASSERT_FALSE(unmarked);
  EXPECT_THAT(unmarked.error().message, HasSubstr("compile_with_inductor"));
  EXPECT_TRUE(check_execution(on_cpu, Execution::inductor));
  EXPECT_TRUE(check_execution(parse(kChain), Execution::cudagraph));
}

// A decomposed norm is slower operator by operator, since each of its parts is a kernel.
TEST(CompiledStep, TakesAsLongWithDecomposedOperatorsAsWithout) {
  const Graph fused = parse(R"(
    x: bf16[8192,4096] = input
    w: bf16[4096] = parameter
    v: bf16[4096,4096] = parameter
    n: (bf16[8192,4096], f32[8192,1]) = aten._fused_rms_norm(x, [4096], w, 1e-05)
    y: bf16[8192,4096] = n[0]
    z: bf16[8192,4096] = aten.mm(y, v)
    return [z]
  )");
  const Graph decomposed = parse(R"(
    x: bf16[8192,4096] = input
    w: bf16[4096] = parameter
    v: bf16[4096,4096] = parameter
    c: f32[8192,4096] = prims.convert_element_type(x, f32)
    q: f32[8192,4096] = aten.pow.Tensor_Scalar(c, 2)
    m: f32[8192,1] = aten.mean.dim(q, [1], True)
    a: f32[8192,1] = aten.add.Scalar(m, 1e-05)
    r: f32[8192,1] = aten.rsqrt(a)
    s: f32[8192,4096] = aten.mul.Tensor(c, r)
    t: f32[8192,4096] = aten.mul.Tensor(s, w)
    y: bf16[8192,4096] = prims.convert_element_type(t, bf16)
    z: bf16[8192,4096] = aten.mm(y, v)
    return [z]
  )");
  const auto step = [](const Graph& graph, Execution execution) {
    return static_cast<double>(executed(graph, execution).simulation.step_ns());
  };
  EXPECT_GT(step(decomposed, Execution::eager), 1.2 * step(fused, Execution::eager));
  EXPECT_NEAR(step(decomposed, Execution::inductor) / step(fused, Execution::inductor), 1, 0.02);
}

// torchtitan's decomposed graph of a debug model, and the same model without decompositions.
TEST(CompiledStep, TakesAsLongOnTheDecomposedCapture) {
  JOINTER_NEEDS_SHARED();
  const auto compute = [](const char* name, Execution execution) {
    const Graph graph =
        must(open_graph({.path = shared_directory() + "/captures/" + std::string(name)}));
    return static_cast<double>(executed(graph, execution).simulation.compute_ns());
  };
  constexpr const char* kWhole = "llama3_debug_tp2_fsdp2.joint.json.zst";
  constexpr const char* kDecomposed = "llama3_debug_inductor_decomposition.joint.json.zst";
  EXPECT_GT(compute(kDecomposed, Execution::eager), 1.1 * compute(kWhole, Execution::eager));
  EXPECT_NEAR(compute(kDecomposed, Execution::inductor) / compute(kWhole, Execution::inductor), 1,
              0.05);
}

std::vector<std::string> all_captures() {
  std::vector<std::string> paths = sample_captures();
  for (const std::string& path : shared_captures())
    if (path.find("671b") == std::string::npos) paths.push_back(path);
  return paths;
}

class CompiledCaptures : public testing::TestWithParam<std::string> {};

TEST_P(CompiledCaptures, PartsOfTheStepAddUp) {
  const Graph graph = must(open_graph({.path = GetParam()}));
  for (const Execution execution : kExecutions) {
    SCOPED_TRACE(std::string(to_string(execution)));
    const Analysis analysis = executed(graph, execution);
    const Simulation& step = analysis.simulation;
    std::int64_t kernels = 0, exposed = 0;
    for (const NodeId id : graph.order())
      if (analysis.costs[id.index()].lane == NodeCost::Lane::compute)
        kernels += analysis.costs[id.index()].ns;
    for (const CollectiveTiming& each : step.collectives()) exposed += each.exposed_ns;
    EXPECT_EQ(step.compute_ns(), kernels);
    EXPECT_EQ(step.exposed_ns(), exposed);
    EXPECT_EQ(step.step_ns(), kernels + exposed + step.host_bound_ns());
    EXPECT_EQ(step.collective_count(),
              executed(graph, Execution::eager).simulation.collective_count());
  }
}

// All kernels are in the step, and their times are not changed.
TEST_P(CompiledCaptures, ComputesForAsLongAsTheKernels) {
  const Graph graph = must(open_graph({.path = GetParam()}));
  const Analysis analysis = executed(graph, Execution::inductor);
  ASSERT_TRUE(analysis.compiled);
  const CompiledStep& step = *analysis.compiled;
  ASSERT_EQ(step.parts.size(), graph.part_count());
  std::int64_t kernels = 0;
  for (std::size_t part = 0; part < step.parts.size(); ++part)
    for (std::size_t i = 0; i < step.times[part].size(); ++i) {
      const kernels::Kernel& kernel = step.parts[part].scheduled.kernels[i];
      const bool is_asynchronous = std::ranges::any_of(kernel.nodes, [&](NodeId id) {
        return graph.is_asynchronous(graph.node(id)) || graph.is_wait(graph.node(id));
      });
      const bool is_call = kernel.kind == kernels::Kernel::Kind::collective ||
                           kernel.kind == kernels::Kernel::Kind::external ||
                           kernel.kind == kernels::Kernel::Kind::wait;
      if (!is_asynchronous || !is_call) kernels += step.times[part][i].ns;
    }
  std::int64_t blocking = 0;  // calls without a kernel on the device that block the CPU
  std::vector<bool> has_kernel(graph.node_count());
  for (std::size_t part = 0; part < step.parts.size(); ++part)
    for (std::size_t i = 0; i < step.times[part].size(); ++i)
      for (const NodeId id : step.parts[part].scheduled.kernels[i].nodes)
        if (step.times[part][i].is_launch) has_kernel[id.index()] = true;
  for (const NodeId id : graph.order())
    if (!has_kernel[id.index()] && analysis.costs_of_operators()[id.index()].blocks_host)
      blocking += analysis.costs_of_operators()[id.index()].ns;
  EXPECT_EQ(analysis.simulation.compute_ns(), kernels + blocking);
}

// The curve is that of the kernels, and what they do not count.
TEST_P(CompiledCaptures, HasThePeakOfTheKernels) {
  const Graph graph = must(open_graph({.path = GetParam()}));
  const MemoryTimeline operators(graph);
  const Analysis analysis = executed(graph, Execution::inductor);
  std::int64_t peak = 0;
  for (const CompiledPart& part : analysis.compiled->parts)
    peak = std::max(peak, compiled_peak(graph, operators, part));
  EXPECT_EQ(analysis.memory.peak_bytes(), peak);
  for (const std::int64_t bytes : analysis.memory.profile()) EXPECT_GE(bytes, 0);
  for (const Lifetime& life : analysis.memory.lifetimes()) {
    EXPECT_LE(life.first, life.last);
    EXPECT_TRUE(life.producer);
  }
  // Every call has a step.
  for (const NodeId id : graph.order())
    EXPECT_EQ(analysis.memory.step_of(id).has_value(), graph.node(id).kind == NodeKind::call);
}

INSTANTIATE_TEST_SUITE_P(All, CompiledCaptures, testing::ValuesIn(all_captures()),
                         [](const auto& capture) { return parameter_name(capture); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CompiledCaptures);

}  // namespace
}  // namespace jointer::test
