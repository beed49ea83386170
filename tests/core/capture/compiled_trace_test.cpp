// Handwritten traces of compiled steps in Kineto's format. tests/differential reads real ones.

#include "core/capture/compiled_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "tests/support/must.h"
#include "tests/support/profiler_trace_text.h"

namespace jointer::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using Trace = ProfilerTraceText;

constexpr const char* kGather = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

Result<CompiledTrace> read_text(const std::string& text) {
  return read_compiled_trace("dir/trace.json", PaddedBytes(text));
}
CompiledTrace read(const Trace& trace) {
  return must(read_text(trace.text()));
}
std::string message_of(const std::string& text) {
  const auto read = read_text(text);
  return read ? "no error" : read.error().message;
}

// "triton_poi_fused_add_0 4": name and time in microseconds.
std::vector<std::string> calls(const TracedGraph& graph) {
  std::vector<std::string> lines;
  for (const TracedCall& call : graph.calls)
    lines.push_back(fmt::format("{} {:g}", call.name, static_cast<double>(call.ns) / 1e3));
  return lines;
}

// "nvjet@7 4-10 gap 1": name, stream, start, end and gap in microseconds.
std::vector<std::string> launches(const TracedGraph& graph) {
  std::vector<std::string> lines;
  for (const TracedLaunch& launch : graph.launches)
    lines.push_back(fmt::format(
        "{}@{} {:g}-{:g} gap {:g}", launch.name.substr(0, launch.name.find('(')), launch.stream,
        static_cast<double>(launch.start_ns) / 1e3, static_cast<double>(launch.end_ns) / 1e3,
        static_cast<double>(launch.gap_ns) / 1e3));
  return lines;
}

// A run of a compiled graph that begins at `t` on the CPU and 100 us later on the GPU: a gather on
// its own stream, a Triton kernel, a product of two kernels.
void add_run(Trace& trace, const char* key, double t, double triton_us, double gather_us) {
  trace.compiled_graph(key, t, 90)
      .call("_c10d_functional::all_gather_into_tensor", t + 5, {{kGather, t + 100, gather_us, 21}})
      .call("triton_poi_fused_add_0", t + 20, {{"triton_poi_fused_add_0", t + 102, triton_us}})
      .call("aten::mm", t + 40,
            {{"nvjet_tst_128x256", t + 115, 10}, {"splitKreduce_kernel", t + 126, 2}});
}

TEST(CompiledTrace, CallsAndTheirKernels) {
  Trace trace;
  trace.gpu().op("Torch-Compiled Region: 0/0", 0, 100);
  add_run(trace, "fabc", 1, 8, 40);
  const CompiledTrace read = test::read(trace);
  EXPECT_EQ(read.label, "trace.json");
  EXPECT_EQ(read.device, "NVIDIA H200");
  EXPECT_TRUE(read.is_gpu);
  ASSERT_THAT(read.graphs, SizeIs(1));
  const TracedGraph& graph = read.graphs.front();
  EXPECT_EQ(graph.key, "fabc");
  EXPECT_THAT(calls(graph), ElementsAre("_c10d_functional::all_gather_into_tensor 40",
                                        "triton_poi_fused_add_0 8", "aten::mm 12"));
  EXPECT_TRUE(graph.calls[0].is_collective);
  EXPECT_FALSE(graph.calls[1].is_collective);
  EXPECT_THAT(launches(graph),
              ElementsAre("ncclDevKernel_AllGather_RING_LL@21 0-40 gap 0",
                          "triton_poi_fused_add_0@7 2-10 gap 0", "nvjet_tst_128x256@7 15-25 gap 5",
                          "splitKreduce_kernel@7 26-28 gap 1"));
  EXPECT_EQ(graph.runs, 1U);
  EXPECT_EQ(graph.steps, 0U) << "the trace has no steps";
}

TEST(CompiledTrace, KernelsThatTheModelDefinesAreCalls) {
  Trace trace;
  trace.gpu().compiled_graph("f", 0, 90).op("Some wrapper", 1, 80);
  trace.call("scale_rows_0", 2, {{"scale_rows", 100, 4}})
      .call("triton_poi_fused_add_0", 21, {{"triton_poi_fused_add_0", 105, 4}});
  EXPECT_THAT(calls(read(trace).graphs.front()),
              ElementsAre("scale_rows_0 4", "triton_poi_fused_add_0 4"));
}

TEST(CompiledTrace, TotalsOfStreamsAddUp) {
  Trace trace;
  trace.gpu().compiled_graph("f", 0, 90);
  // The second kernel starts before the first one has ended, as dependent launches do.
  trace.call("triton_poi_fused_add_0", 1, {{"triton_poi_fused_add_0", 100, 10}})
      .call("triton_poi_fused_mul_1", 11, {{"triton_poi_fused_mul_1", 108, 10}})
      .call("triton_poi_fused_mul_1", 21, {{"triton_poi_fused_mul_1", 125, 5, 9}})
      .call("triton_poi_fused_mul_1", 31, {{"triton_poi_fused_mul_1", 130, 5}});
  const TracedGraph graph = read(trace).graphs.front();
  ASSERT_THAT(graph.streams, SizeIs(2));
  const TracedStream& stream = graph.streams.front();
  EXPECT_EQ(stream.stream, 7);
  EXPECT_EQ(stream.launches, 3U);
  EXPECT_EQ(stream.kernel_ns, 25'000);
  EXPECT_EQ(stream.gap_ns, 12'000);
  EXPECT_EQ(stream.overlap_ns, 2'000);
  EXPECT_EQ(stream.span_ns, 35'000);
  for (const TracedStream& each : graph.streams)
    EXPECT_EQ(each.kernel_ns + each.gap_ns - each.overlap_ns, each.span_ns);
  EXPECT_EQ(graph.span_ns, 35'000);
}

TEST(CompiledTrace, TheMedianOfStepsCounts) {
  Trace trace;
  trace.gpu();
  const std::array<double, 3> triton_us{5, 9, 6}, gather_us{60, 30, 45};
  for (std::size_t i = 0; i < 3; ++i) {
    const double t = 1000.0 * static_cast<double>(i);
    trace.step(static_cast<int>(i) + 4, t, 900);
    add_run(trace, "f", t + 10, triton_us[i], gather_us[i]);
  }
  const CompiledTrace read = test::read(trace);
  ASSERT_THAT(read.graphs, SizeIs(1));
  const TracedGraph& graph = read.graphs.front();
  EXPECT_EQ(read.steps, 3U);
  EXPECT_EQ(graph.steps, 3U);
  EXPECT_EQ(graph.runs, 3U);
  EXPECT_THAT(calls(graph), ElementsAre("_c10d_functional::all_gather_into_tensor 30",
                                        "triton_poi_fused_add_0 6", "aten::mm 12"))
      << "the shortest collective: the others waited for late ranks";
  EXPECT_EQ(graph.span_ns, 45'000);
  EXPECT_THAT(launches(graph), testing::Contains("triton_poi_fused_add_0@7 2-8 gap 0"))
      << "the run with the median duration";
}

TEST(CompiledTrace, RunsWithOtherCallsAreLeftOut) {
  Trace trace;
  trace.gpu();
  // The first run tunes a kernel.
  trace.step(0, 0, 900).compiled_graph("f", 1, 400);
  trace.call("triton_poi_fused_add_0", 10,
             {{"triton_poi_fused_add_0", 200, 50}, {"triton_poi_fused_add_0", 260, 50}});
  for (int i = 1; i < 3; ++i) {
    trace.step(i, 1000.0 * i, 900).compiled_graph("f", 1000.0 * i + 1, 90);
    trace.call("triton_poi_fused_add_0", 1000.0 * i + 10,
               {{"triton_poi_fused_add_0", 1000.0 * i + 100, 7}});
  }
  const TracedGraph graph = read(trace).graphs.front();
  EXPECT_EQ(graph.runs, 2U);
  EXPECT_EQ(graph.other_runs, 1U);
  EXPECT_THAT(calls(graph), ElementsAre("triton_poi_fused_add_0 7"));
}

TEST(CompiledTrace, EachCompiledGraphIsSeparateAndOthersAreCounted) {
  Trace trace;
  trace.gpu().step(0, 0, 2000);
  add_run(trace, "forward", 10, 5, 20);
  add_run(trace, "backward", 500, 5, 20);
  trace.call("aten::_foreach_add_", 900, {{"multi_tensor_apply_kernel", 1000, 30}});
  const CompiledTrace read = test::read(trace);
  ASSERT_THAT(read.graphs, SizeIs(2));
  EXPECT_EQ(read.graphs[0].key, "forward");
  EXPECT_EQ(read.graphs[1].key, "backward");
  EXPECT_THAT(read.graphs[1].calls, SizeIs(3));
  EXPECT_EQ(read.outside_launches, 1U);
  EXPECT_EQ(read.outside_ns, 30'000);
}

TEST(CompiledTrace, LaunchesAreOrderedByTheCallNotByTheStreamThatIsFaster) {
  Trace trace;
  trace.gpu();
  for (int i = 0; i < 2; ++i) {
    const double t = 1000.0 * i;
    trace.step(i, t, 900).compiled_graph("f", t + 1, 90);
    trace.call("triton_poi_fused_a_0", t + 10, {{"triton_poi_fused_a_0", t + 100, 20}})
        .call("triton_poi_fused_b_1", t + 20, {{"triton_poi_fused_b_1", t + 121, 5}})
        .call("_c10d_functional::all_reduce", t + 30,
              {{"ncclDevKernel_AllReduce_Sum_f32_RING_LL", t + (i == 0 ? 105 : 130), 9, 21}});
  }
  const TracedGraph graph = read(trace).graphs.front();
  EXPECT_EQ(graph.runs, 2U) << "the collective starts earlier in one run";
  EXPECT_THAT(calls(graph), ElementsAre("triton_poi_fused_a_0 20", "triton_poi_fused_b_1 5",
                                        "_c10d_functional::all_reduce 9"));
}

TEST(CompiledTrace, KernelsOfACudaGraphNameThemselves) {
  Trace trace;
  trace.gpu().compiled_graph("f", 0, 90).launch(77, 5);  // cudaGraphLaunch
  trace.kernel("triton_poi_fused_add_0", 100, 4, 77)
      .kernel("nvjet_tst_128x256", 105, 9, 77)
      .kernel("ncclDevKernel_AllGather_RING_LL", 101, 30, 77, 0, "kernel", 21)
      .kernel("triton_poi_fused_mul_1", 115, 4, 77);
  const TracedGraph graph = read(trace).graphs.front();
  EXPECT_THAT(calls(graph),
              ElementsAre("triton_poi_fused_add_0 4", " 9", "triton_poi_fused_mul_1 4", " 30"))
      << "ordered by stream, then by start";
  EXPECT_TRUE(graph.calls.back().is_collective);
}

TEST(CompiledTrace, StepsWithoutMarksAreRuns) {
  Trace trace;
  trace.gpu();
  for (int i = 0; i < 2; ++i)
    trace.step(i, 1000.0 * i, 900)
        .call("triton_poi_fused_add_0", 1000.0 * i + 10,
              {{"triton_poi_fused_add_0", 1000.0 * i + 100, 4.0 + i}});
  trace.call("triton_poi_fused_add_0", 5000, {{"triton_poi_fused_add_0", 5100, 100}});
  const CompiledTrace read = test::read(trace);
  ASSERT_THAT(read.graphs, SizeIs(1));
  EXPECT_EQ(read.graphs[0].key, "");
  EXPECT_EQ(read.graphs[0].runs, 2U) << "what is outside of steps does not count";
  EXPECT_THAT(calls(read.graphs[0]), ElementsAre("triton_poi_fused_add_0 4.5"));
}

TEST(CompiledTrace, OnTheCpuCallsAreLaunches) {
  const Trace trace = Trace()
                          .compiled_graph("f", 0, 100)
                          .op("graph_0_cpp_fused_native_layer_norm_0", 5, 10)
                          .op("aten::as_strided", 16, 1)
                          .op("aten::mm", 20, 30)
                          .op("aten::empty", 21, 1)
                          .op("graph_0_cpp_fused_gelu_1", 55, 5)
                          .op("aten::sum", 200, 5);
  const CompiledTrace read = test::read(trace);
  EXPECT_FALSE(read.is_gpu);
  EXPECT_EQ(read.device, "CPU");
  ASSERT_THAT(read.graphs, SizeIs(1));
  EXPECT_THAT(calls(read.graphs[0]),
              ElementsAre("cpp_fused_native_layer_norm_0 10", "aten::mm 30", "cpp_fused_gelu_1 5"));
  EXPECT_EQ(read.graphs[0].span_ns, 55'000);
  EXPECT_EQ(read.graphs[0].streams.front().gap_ns, 10'000);
  EXPECT_EQ(read.outside_launches, 1U) << "aten::sum";
}

TEST(CompiledTrace, AnInterpretedStepIsRefused) {
  const std::string cpu = message_of(Trace().op("aten::mm", 0, 10).op("aten::add", 20, 5).text());
  EXPECT_THAT(cpu, HasSubstr("dir/trace.json: the trace is not of a compiled step"));
  EXPECT_THAT(cpu, HasSubstr("none of its operator calls (2)"));
  EXPECT_THAT(cpu, HasSubstr("torch.compile"));
  EXPECT_THAT(message_of(Trace().gpu().call("aten::mm", 0, {{"nvjet", 10, 5}}).text()),
              HasSubstr("not of a compiled step"));
}

TEST(CompiledTrace, KernelsThatWereNotRecordedAreExplained) {
  EXPECT_THAT(
      message_of(Trace().compiled_graph("f", 0, 50).op("triton_poi_fused_add_0", 5, 10).text()),
      HasSubstr("add ProfilerActivity.CUDA"));
  EXPECT_THAT(message_of(Trace().compiled_graph("f", 0, 50).op("aten::mm", 5, 10).text()),
              HasSubstr("cpp.enable_kernel_profile"));
  EXPECT_THAT(message_of(Trace()
                             .gpu()
                             .compiled_graph("f", 0, 50)
                             .call("aten::mm", 500, {{"nvjet", 510, 5}})
                             .text()),
              HasSubstr("launch nothing"));
}

TEST(CompiledTrace, DamagedFilesAreErrors) {
  Trace trace;
  trace.gpu();
  add_run(trace, "f", 0, 5, 20);
  const std::string text = trace.text();
  EXPECT_THAT(message_of(text.substr(0, text.size() / 2)), HasSubstr("not a profiler trace"));
  EXPECT_THAT(message_of("{}"), HasSubstr("`traceEvents` is missing"));
  EXPECT_THAT(message_of("[1, 2"), HasSubstr("not a profiler trace"));
  // Every prefix is an error or a trace.
  for (std::size_t size = 0; size < text.size(); size += 97) message_of(text.substr(0, size));
}

}  // namespace
}  // namespace jointer::test
