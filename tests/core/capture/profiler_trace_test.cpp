// Handwritten traces in Kineto's format: matching, kernels, steps and damage.
// tests/differential/test_profiler_trace.py reads real ones.

#include "core/capture/profiler_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <random>

#include "core/bench/calibrate.h"
#include "core/capture/profiler_calls.h"
#include "tests/support/graphs.h"
#include "tests/support/profiler_trace_text.h"

namespace jointer::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using OrderedJson = nlohmann::ordered_json;
using Trace = ProfilerTraceText;

Result<TraceMatch> read(const Graph& graph, const std::string& text,
                        const std::string& device = {}) {
  return match_profiler_trace(graph, "dir/trace.json", PaddedBytes(text), device);
}

TraceMatch match(const Graph& graph, const Trace& trace, const std::string& device = {}) {
  auto matched = read(graph, trace.text(), device);
  if (!matched) throw std::runtime_error(matched.error().message);
  return *std::move(matched);
}

// "mm 0-10 10": name, start, end, self time in microseconds.
std::vector<std::string> lanes(const Graph& graph, const TraceMatch& match) {
  std::vector<std::string> lines;
  for (const MeasuredNode& n : match.measurement.nodes)
    lines.push_back(
        fmt::format("{} {:g}-{:g} {:g}", graph.name(n.node), static_cast<double>(n.start_ns) / 1e3,
                    static_cast<double>(n.end_ns) / 1e3, static_cast<double>(n.own_ns) / 1e3));
  return lines;
}

// "mm splitK_gemm@7 0-30": node, kernel, stream, start and end in microseconds.
std::vector<std::string> kernels(const Graph& graph, const TraceMatch& match) {
  std::vector<std::string> lines;
  for (const NodeKernel& k : match.measurement.kernels)
    lines.push_back(fmt::format("{} {}@{} {:g}-{:g}", graph.name(k.node), k.name, k.stream,
                                static_cast<double>(k.start_ns) / 1e3,
                                static_cast<double>(k.end_ns) / 1e3));
  return lines;
}

Graph small() {
  return parse(R"(
    x: f32[8,16] = input
    w: f32[16,4] = parameter
    b: f32[4] = parameter
    mm: f32[8,4] = aten.mm(x, w)
    v: f32[32] = aten.view(mm, [32])
    add: f32[8,4] = aten.add.Tensor(mm, b)
    r: f32[8,4] = aten.relu(add)
    return [r]
  )");
}

TEST(ProfilerTrace, CpuCallsAreNodes) {
  const Graph graph = small();
  const TraceMatch m = match(graph,
                             Trace()
                                 .op("aten::mm", 100.5, 10, {{8, 16}, {16, 4}})
                                 .op("aten::resolve_conj", 101, 1, {{8, 16}})
                                 .op("aten::view", 111, 1, {{8, 4}, OrderedJson::array()})
                                 .op("aten::add", 113, 5.25, {{8, 4}, {4}, OrderedJson::array()})
                                 .op("aten::relu", 120, 7, {{8, 4}})
                                 .op("aten::clamp_min", 121, 5, {{8, 4}}),
                             "my CPU");
  EXPECT_THAT(lanes(graph, m),
              ElementsAre("mm 0-10 10", "v 10.5-11.5 1", "add 12.5-17.75 5.25", "r 19.5-26.5 7"));
  EXPECT_EQ(m.measurement.step_ns, 26'500);
  EXPECT_EQ(m.measurement.device, "my CPU");
  EXPECT_EQ(m.measurement.device_type, "cpu");
  EXPECT_EQ(m.measurement.label, "trace.json");
  EXPECT_EQ(m.matched, 4U);
  EXPECT_EQ(m.nodes, 4U);
  EXPECT_THAT(m.measurement.notes, IsEmpty());
}

TEST(ProfilerTrace, KernelsBelongToTheCallThatLaunchedThem) {
  const Graph graph = small();
  const TraceMatch m = match(graph, Trace()
                                        .gpu()
                                        .op("aten::mm", 0, 10, {{8, 16}, {16, 4}})  // 1
                                        .op("aten::empty", 1, 1)                    // 2, part of mm
                                        .op("aten::view", 11, 1, {{8, 4}})          // 3
                                        .op("aten::add", 20, 10, {{8, 4}, {4}})     // 4
                                        .op("aten::expand", 21, 1, {{4}})        // 5, part of add
                                        .op("aten::relu", 40, 10, {{8, 4}})      // 6
                                        .op("aten::clamp_min", 41, 8, {{8, 4}})  // 7, part of relu
                                        .kernel("splitK_gemm", 50, 30, 901, 1)
                                        .kernel("reduce_gemm", 82, 5, 902, 1)
                                        // No External id: matched by the launch within the call.
                                        .launch(903, 23)
                                        .kernel("vectorized_add", 90, 4, 903)
                                        .kernel("clamp", 100, 6, 904, 7)
                                        .kernel("Memset (Device)", 99, 0.5, 905, 7, "gpu_memset")
                                        // Belongs to a call that is not a node.
                                        .kernel("elementwise", 200, 12, 990)
                                        .op("aten::fill_", 60, 3));
  EXPECT_THAT(lanes(graph, m), ElementsAre("mm 0-37 35", "add 40-44 4", "r 49-56 6.5"))
      << "a view has no kernel";
  EXPECT_THAT(kernels(graph, m), ElementsAre("mm splitK_gemm@7 0-30", "mm reduce_gemm@7 32-37",
                                             "add vectorized_add@7 40-44",
                                             "r Memset (Device)@7 49-49.5", "r clamp@7 50-56"));
  EXPECT_EQ(m.measurement.device, "NVIDIA H200");
  EXPECT_EQ(m.measurement.device_type, "cuda");
  EXPECT_EQ(m.matched, 4U);
  EXPECT_EQ(m.device_ns, 57'500);
  EXPECT_EQ(m.foreign_device_ns, 12'000);
  EXPECT_THAT(
      m.measurement.notes,
      ElementsAre("12.0 us of the total kernel time of 57.5 us does not belong to any node"));
}

Graph collectives() {
  return parse(R"(
    group tp: 0 1
    x: f32[8,4] = input
    ar: f32[8,4] = _c10d_functional.all_reduce(x, 'sum', 'tp')
    r: f32[8,4] = aten.relu(x)
    wt: f32[8,4] = _c10d_functional.wait_tensor(ar)
    out: f32[8,4] = aten.add.Tensor(wt, r)
    return [out]
  )");
}

TEST(ProfilerTrace, ACollectiveIsItsNcclKernel) {
  const Graph graph = collectives();
  Trace trace;
  trace.gpu();
  for (int pass = 0; pass < 3; ++pass) {
    const double t = 1000.0 * pass;
    const int id = 6 * pass, correlation = 10 * pass;
    trace.step(pass, t, 900)
        .op("_c10d_functional::all_reduce", t + 1, 40, {{8, 4}, OrderedJson::array()})  // id + 1
        .op("aten::clone", t + 2, 5, {{8, 4}})                                          // id + 2
        .op("record_param_comms", t + 10, 20)                                           // id + 3
        .op("aten::relu", t + 50, 5, {{8, 4}})                                          // id + 4
        .op("_c10d_functional::wait_tensor", t + 60, 5, {{8, 4}})                       // id + 5
        .op("aten::add", t + 70, 5, {{8, 4}, {8, 4}})                                   // id + 6
        .kernel("Memcpy DtoD (Device -> Device)", t + 5, 3, correlation + 1, id + 2, "gpu_memcpy")
        // Rank 0 waits for the other ranks: longer in some steps.
        .kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", t + 15,
                50.0 + 20 * pass, correlation + 2, id + 3, "kernel", 21)
        .kernel("relu", t + 55, 2.0 + pass, correlation + 3, id + 4)
        .kernel("add", t + 150, 2, correlation + 4, id + 6);
  }
  const TraceMatch m = match(graph, trace);
  EXPECT_EQ(m.passes, 3U);
  EXPECT_EQ(m.measurement.step_ns, 900'000);
  EXPECT_THAT(lanes(graph, m), ElementsAre("ar 10-80 50", "r 50-53 3", "out 145-147 2"))
      << "lanes of the median step; the shortest all-reduce, the median kernel";
  EXPECT_THAT(
      kernels(graph, m),
      ElementsAre("ar Memcpy DtoD (Device -> Device)@7 0-3",
                  "ar ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
                  "@21 10-80",
                  "r relu@7 50-53", "out add@7 145-147"))
      << "those of one step; time counts from the first kernel";
  const CostSamples samples = cost_samples(graph, m.measurement);
  ASSERT_EQ(samples.collectives.size(), 1U);
  EXPECT_EQ(samples.collectives[0].second, 50'000);
  EXPECT_EQ(samples.collectives[0].first.backend, "nccl");
}

TEST(ProfilerTrace, EagerNamesOfCollectivesAreKnown) {
  const Graph graph = collectives();
  const TraceMatch m =
      match(graph, Trace()
                       .gpu()
                       .op("c10d::allreduce_", 1, 40, {{{8, 4}}, OrderedJson::array()})
                       .op("aten::relu", 50, 5, {{8, 4}})
                       .op("aten::add", 70, 5, {{8, 4}, {8, 4}})
                       .kernel("ncclDevKernel_AllReduce", 10, 30, 1, 1)
                       .kernel("relu", 50, 2, 2, 2)
                       .kernel("add", 60, 2, 3, 3));
  EXPECT_THAT(lanes(graph, m), ElementsAre("ar 0-30 30", "r 40-42 2", "out 50-52 2"));
  EXPECT_THAT(m.measurement.notes,
              ElementsAre("1 of 4 nodes matches no call: _c10d_functional::wait_tensor (1)"));
}

TEST(ProfilerTrace, ACpuCollectiveEndsWithItsWait) {
  const Graph graph = collectives();
  const auto trace = [](double wait_us) {
    return Trace()
        .op("_c10d_functional::all_reduce", 0, 20, {{8, 4}})
        .op("aten::relu", 30, 10, {{8, 4}})
        .op("_c10d_functional::wait_tensor", 50, wait_us, {{8, 4}})
        .op("aten::add", 300, 5, {{8, 4}, {8, 4}})
        // Gloo's thread may do anything with the tensors.
        .annotation("gloo:all_reduce", 77, 25, 60)
        .op("aten::relu", 26, 1, {{8, 4}}, 77);
  };
  EXPECT_THAT(lanes(graph, match(graph, trace(100))),
              ElementsAre("ar 0-150 150", "r 30-40 10", "wt 50-150 100", "out 300-305 5"));
  // It had ended before the wait began: nothing records when.
  const TraceMatch over = match(graph, trace(1));
  EXPECT_EQ(over.measurement.nodes[0].own_ns, -1);
  EXPECT_THAT(cost_samples(graph, over.measurement).collectives, IsEmpty());
}

TEST(ProfilerTrace, TheMedianStepCountsAndCallsBetweenStepsDoNot) {
  const Graph graph = small();
  Trace trace;
  const std::array<double, 5> mm_us{10, 30, 12, 11, 200};
  for (int i = 0; i < 5; ++i) {
    const double t = 1000.0 * i;
    trace.step(i + 3, t, 600.0 + mm_us[static_cast<std::size_t>(i)])
        .op("aten::mm", t + 1, mm_us[static_cast<std::size_t>(i)], {{8, 16}, {16, 4}})
        .op("aten::view", t + 550, 1, {{8, 4}})
        .op("aten::add", t + 560, 5, {{8, 4}, {4}})
        .op("aten::relu", t + 570, 7, {{8, 4}})
        .op("aten::relu", t + 999, 0.5, {{8, 4}});  // after the step
  }
  const TraceMatch m = match(graph, trace);
  EXPECT_EQ(m.passes, 5U);
  EXPECT_EQ(m.foreign_calls, 0U);
  EXPECT_THAT(lanes(graph, m), Contains("mm 1-13 12")) << "from the median step";
  EXPECT_EQ(m.measurement.step_ns, 612'000);
}

TEST(ProfilerTrace, RunsWithoutStepsAreSplitWhereTheyRepeat) {
  const Graph graph = small();
  Trace trace;
  for (int i = 0; i < 4; ++i) {
    const double t = 100.0 * i;
    trace.op("aten::mm", t, 10.0 + i, {{8, 16}, {16, 4}});
    // One run lacks a call, another has an extra one.
    if (i != 1) trace.op("aten::view", t + 20, 1, {{8, 4}});
    if (i == 2) trace.op("aten::add", t + 25, 4, {{8, 4}, {8, 4}});
    trace.op("aten::add", t + 30, 5, {{8, 4}, {4}}).op("aten::relu", t + 40, 7, {{8, 4}});
  }
  const TraceMatch m = match(graph, trace);
  EXPECT_EQ(m.passes, 4U);
  EXPECT_EQ(m.matched, 4U);
  EXPECT_EQ(m.foreign_calls, 1U);
  EXPECT_THAT(lanes(graph, m),
              ElementsAre("mm 0-12 11.5", "v 20-21 1", "add 30-35 5", "r 40-47 7"));
  EXPECT_THAT(m.measurement.notes,
              Contains("1 call matches no node or differs in shape: aten::add (1)"));
}

TEST(ProfilerTrace, OtherShapesDoNotMatch) {
  const Graph graph = small();
  const Trace trace = Trace()
                          .op("aten::mm", 0, 10, {{8, 16}, {16, 4}})
                          .op("aten::add", 20, 5, {{16, 4}, {4}})
                          .op("aten::relu", 30, 5, {{16, 4}});
  const TraceMatch m = match(graph, trace);
  EXPECT_THAT(lanes(graph, m), ElementsAre("mm 0-10 10"));
  EXPECT_THAT(
      m.measurement.notes,
      Contains("3 of 4 nodes match no call: aten::add (1), aten::relu (1), aten::view (1)"));
  EXPECT_THAT(m.measurement.notes, Contains(HasSubstr("2 calls match no node or differ in")));
}

TEST(ProfilerTrace, WithoutShapesTheOrderDecides) {
  const Graph graph = small();
  const TraceMatch m =
      match(graph, Trace().op("aten::mm", 0, 10).op("aten::add", 20, 5).op("aten::relu", 30, 5));
  EXPECT_EQ(m.matched, 3U);
  EXPECT_THAT(m.measurement.notes, Contains(HasSubstr("record_shapes=True")));
}

TEST(ProfilerTrace, KeywordsAndListsFollowTheSchema) {
  const Graph graph = parse(R"(
    a: f32[2,3] = input
    b: f32[4,3] = input
    s: f32[] = input
    c: f32[6,3] = aten.cat([a, b], 0)
    m: f32[6,3] = aten.mul.Tensor(c, s)
    i: i64[2] = input
    p: f32[6,3] = aten.index_put(m, [i], s)
    return [p]
  )");
  const TraceMatch m = match(
      graph,
      Trace()
          .op("aten::cat", 0, 10, {{{2, 3}, {4, 3}}, OrderedJson::array()})
          .op("aten::mul", 20, 5, {{6, 3}, OrderedJson::array()})
          // Lists of optional tensors are not recorded.
          .op("aten::index_put", 30, 5, {{6, 3}, OrderedJson::array(), OrderedJson::array()}));
  EXPECT_EQ(m.matched, 3U);
  EXPECT_FALSE(read(graph, Trace().op("aten::cat", 0, 1, {{{2, 3, 4, 3}}}).text()).has_value())
      << "the boundaries between shapes matter";
}

TEST(ProfilerTrace, BackwardMayRunOnAnotherThread) {
  const Graph graph = small();
  const TraceMatch m = match(graph, Trace()
                                        .op("aten::add", 120, 5, {{8, 4}, {4}}, 11)
                                        .op("aten::relu", 130, 5, {{8, 4}}, 11)
                                        // Unrelated work at the same time does not nest.
                                        .op("aten::mm", 100, 50, {{8, 16}, {16, 4}}, 10)
                                        .op("aten::view", 110, 1, {{8, 4}}, 11));
  EXPECT_EQ(m.matched, 4U);
}

TEST(ProfilerTrace, TimesAreExactBeyondDoublePrecision) {
  const Graph graph = small();
  std::string text = Trace().op("aten::mm", 1, 2).op("aten::relu", 3, 4).text();
  const auto put = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  put("\"ts\":1.0,\"dur\":2.0", "\"ts\":1790857026000000.123,\"dur\":0.001");
  put("\"ts\":3.0,\"dur\":4.0", "\"ts\":1790857026000001.125,\"dur\":1.5e3");
  const auto m = read(graph, text);
  ASSERT_TRUE(m.has_value());
  const auto& nodes = m->measurement.nodes;
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0].own_ns, 1);
  EXPECT_EQ(nodes[1].start_ns, 1002);
  EXPECT_EQ(nodes[1].own_ns, 1'500'000);
}

TEST(ProfilerTrace, LaunchesAreNotWork) {
  const Trace trace = Trace().gpu().op("aten::mm", 1, 2, {{8, 16}, {16, 4}});
  const auto of_a_gpu = read(small(), trace.text());
  ASSERT_FALSE(of_a_gpu.has_value());
  EXPECT_THAT(of_a_gpu.error().message, HasSubstr("ProfilerActivity.CUDA"));
  // A machine with a GPU may run a graph on its CPU.
  const Graph on_cpu = parse(
      "device cpu\nx: f32[8,16] = input\nw: f32[16,4] = input\nmm: f32[8,4] = aten.mm(x, w)\n"
      "return [mm]");
  EXPECT_EQ(match(on_cpu, trace).measurement.device_type, "cpu");
}

TEST(ProfilerTrace, AbsurdTimesDoNotOverflow) {
  const Graph graph = small();
  Trace trace;
  trace.gpu()
      .op("aten::mm", -2e15, 2e15, {{8, 16}, {16, 4}})
      .op("aten::relu", 2e15, 2e15, {{8, 4}});
  for (int i = 0; i < 10; ++i) trace.kernel("k", -2e15 + i, 2e15, 50 + i, 1);
  const TraceMatch m = match(graph, trace);
  EXPECT_EQ(m.device_ns, std::numeric_limits<std::int64_t>::max());
  EXPECT_GE(m.measurement.step_ns, 0);
}

// Some versions of the profiler write the stream only as the thread.
TEST(ProfilerTrace, TheThreadOfAKernelIsItsStream) {
  const Graph graph = small();
  const std::string trace = R"({"traceEvents": [
    {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":0,"dur":5,
     "args":{"External id":1}},
    {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":13,"ts":10,"dur":5,
     "args":{"External id":1}}]})";
  const auto m = read(graph, trace);
  ASSERT_TRUE(m) << m.error().message;
  EXPECT_THAT(kernels(graph, *m), ElementsAre("mm gemm@13 0-5"));
}

TEST(ProfilerTrace, ATraceOfTheCpuHasNoKernels) {
  const Graph graph = small();
  const TraceMatch m = match(graph, Trace().op("aten::mm", 0, 10, {{8, 16}, {16, 4}}));
  EXPECT_THAT(m.measurement.kernels, IsEmpty());
}

// --- Damage ---

TEST(ProfilerTrace, OtherFilesAreRefusedInOneLine) {
  const Graph graph = small();
  for (const std::string text :
       {"", "{", "[]", "{}", "null", "\"traceEvents\"", R"({"traceEvents":{}})",
        R"({"traceEvents":[1]})", R"({"traceEvents":[{}])", R"({"traceEvents":[{"ph":"X"}]})",
        R"({"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::mm","ts":"x","dur":1}]})",
        R"({"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::mm","ts":1,"dur":-1}]})",
        R"({"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::mm","ts":1e300,"dur":1}]})"}) {
    const auto m = read(graph, text);
    ASSERT_FALSE(m.has_value()) << text;
    EXPECT_EQ(m.error().kind, Error::Kind::input);
    EXPECT_THAT(m.error().message, StartsWith("dir/trace.json: "));
    EXPECT_THAT(m.error().message, Not(HasSubstr("\n")));
  }
  const std::string foreign = Trace().op("aten::conv2d", 0, 1).text();
  const auto other = read(graph, foreign);
  ASSERT_FALSE(other.has_value());
  EXPECT_THAT(other.error().message, HasSubstr("is this a trace of that graph?"));
  Graph untitled = graph;
  untitled.set_title({});
  EXPECT_THAT(read(untitled, foreign).error().message,
              HasSubstr("matches a node of the graph; is this a trace of that graph?"));
}

std::string a_trace() {
  return Trace()
      .gpu()
      .step(1, 0, 100)
      .op("aten::mm", 0, 10, {{8, 16}, {16, 4}})
      .op("aten::relu", 40, 10, {{8, 4}})
      .launch(3, 42)
      .kernel("gemm", 50, 30, 901, 1)
      .kernel("relu", 90, 30, 3)
      .text();
}

TEST(ProfilerTrace, TruncatedAnywhere) {
  const Graph graph = small();
  const std::string text = a_trace();
  ASSERT_TRUE(read(graph, text).has_value());
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto m = read(graph, text.substr(0, size));
    ASSERT_FALSE(m.has_value()) << size;
    ASSERT_THAT(m.error().message, StartsWith("dir/trace.json: not a profiler trace: "));
  }
}

TEST(ProfilerTrace, BytesChangedAnywhere) {
  const Graph graph = small();
  const std::string text = a_trace();
  std::minstd_rand random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string changed = text;
    for (int i = 0; i < 3; ++i)
      changed[random() % changed.size()] = static_cast<char>(' ' + random() % 95);
    if (const auto m = read(graph, changed); m.has_value()) {
      for (const MeasuredNode& n : m->measurement.nodes)
        ASSERT_LT(n.node.index(), graph.node_count());
    } else {
      ASSERT_THAT(m.error().message, Not(HasSubstr("\n")));
    }
  }
}

TEST(ProfilerTrace, EndlessNestingIsRefused) {
  const Graph graph = small();
  const std::string deep(100'000, '[');
  for (const char* format : {R"({{"traceEvents":[{{"args":{{"Input Dims":{0}}}}}]}})",
                             R"({{"traceEvents":{0}}})", R"({{"a":{0},"traceEvents":[]}})"})
    EXPECT_FALSE(read(graph, fmt::format(fmt::runtime(format), deep)).has_value());
}

// Real traces have a hundred megabytes and more. Not a benchmark: a limit that any quadratic
// algorithm would exceed.
TEST(ProfilerTrace, ALargeTraceTakesSeconds) {
  std::string literal = "x: f32[8,8] = input\n", last = "x";
  std::string events;
  constexpr int kNodes = 5000, kSteps = 20;
  for (int i = 0; i < kNodes; ++i) {
    const std::string name = fmt::format("n{}", i);
    literal +=
        fmt::format("{}: f32[8,8] = aten.{}({})\n", name, i % 3 == 0 ? "relu" : "tanh", last);
    last = name;
  }
  const Graph graph = parse(literal + "return [" + last + "]");
  int external = 0;
  for (int step = 0; step < kSteps; ++step) {
    const int t = step * 1'000'000;
    events += fmt::format(
        R"({{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{}","pid":1,"tid":1,"ts":{},"dur":900000}},)",
        step, t);
    for (int i = 0; i < kNodes; ++i) {
      if (i % 997 == step) continue;  // each step lacks different calls
      ++external;
      events += fmt::format(
          R"({{"ph":"X","cat":"cpu_op","name":"aten::{}","pid":1,"tid":1,"ts":{}.5,"dur":50,"args":{{"External id":{},"Input Dims":[[8,8]]}}}},)",
          i % 3 == 0 ? "relu" : "tanh", t + i * 100, external);
      events += fmt::format(
          R"({{"ph":"X","cat":"kernel","name":"k{}","pid":0,"tid":7,"ts":{},"dur":7,"args":{{"External id":{},"correlation":{}}}}},)",
          i % 50, t + i * 100 + 60, external, external);
    }
  }
  events.pop_back();
  const std::string text = R"({"traceEvents":[)" + events + "]}";
  const auto started = std::chrono::steady_clock::now();
  const auto m = read(graph, text);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  ASSERT_TRUE(m.has_value()) << m.error().message;
  EXPECT_EQ(m->passes, static_cast<std::size_t>(kSteps));
  EXPECT_EQ(m->matched, static_cast<std::size_t>(kNodes));
  EXPECT_LT(took.count(), 20) << text.size() << " bytes";
}

}  // namespace
}  // namespace jointer::test
