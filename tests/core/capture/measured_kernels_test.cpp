// Handwritten traces tied to handwritten compilations and to predicted kernels.

#include "core/capture/measured_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/capture/kernel_labels.h"
#include "core/kernels/lowering.h"
#include "tests/support/graphs.h"
#include "tests/support/must.h"
#include "tests/support/profiler_trace_text.h"

namespace jointer::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Trace = ProfilerTraceText;

constexpr const char *kAdd = "triton_poi_fused_add_0", *kMul = "triton_poi_fused_mul_1",
                     *kNorm = "triton_per_fused_add_mean_2";

CompiledTrace read_trace(const Trace& trace) {
  return must(read_compiled_trace("trace.json", PaddedBytes(trace.text())));
}

// The program that calls these kernels in order.
CompiledProgram program_of(const std::vector<std::string>& names) {
  CompiledProgram program;
  for (const std::string& name : names) {
    CompiledKernel& kernel = program.kernels.emplace_back();
    kernel.name = name;
    if (is_inductor_kernel(name)) {
      kernel.kind = CompiledKind::pointwise;
      kernel.source = program.sources.size();
      program.sources.emplace_back().name = name;
    } else if (name.find("wait_tensor") != std::string::npos) {
      kernel.kind = CompiledKind::wait;
    } else if (name.find("_c10d_functional") != std::string::npos) {
      kernel.kind = CompiledKind::collective;
    }
  }
  return program;
}

// The measured time of each kernel in microseconds, and how it was found: "4 name", "-".
std::vector<std::string> times(const MeasuredKernels& measured) {
  std::vector<std::string> lines;
  for (const KernelMeasurement& each : measured.kernels)
    if (each.by == TiedBy::nothing)
      lines.emplace_back("-");
    else if (!each.ns)
      lines.push_back(fmt::format("? {}", to_string(each.by)));
    else
      lines.push_back(
          fmt::format("{:g} {}", static_cast<double>(*each.ns) / 1e3, to_string(each.by)));
  return lines;
}

TEST(MeasuredKernels, AreTiedByNameAndOperator) {
  Trace trace;
  trace.gpu()
      .compiled_graph("f", 0, 90)
      .call("_c10d_functional::all_gather_into_tensor", 1,
            {{"ncclDevKernel_AllGather_RING_LL", 100, 40, 21}})
      .call(kAdd, 11, {{kAdd, 100, 4}})
      .call("aten::mm", 21, {{"nvjet_tst", 105, 10}, {"splitKreduce", 116, 2}})
      .call("aten::_scaled_dot_product_flash_attention", 31,
            {{"void flash_fwd_kernel<Flash_fwd_kernel_traits<64>>", 120, 30}});
  const MeasuredKernels measured = must(tie_measured(
      read_trace(trace),
      program_of({"torch.ops._c10d_functional.all_gather_into_tensor.default", kAdd,
                  "torch.ops._c10d_functional.wait_tensor.default", "extern_kernels.mm",
                  "torch.ops.aten._scaled_dot_product_flash_attention.default"})));
  EXPECT_THAT(times(measured), ElementsAre("40 name", "4 name", "-", "12 name", "30 name"));
  EXPECT_THAT(measured.untied_kernels, IsEmpty()) << "a wait launches nothing";
  EXPECT_THAT(measured.untied_calls, IsEmpty());
}

TEST(MeasuredKernels, RepeatedNamesAreTiedInOrder) {
  Trace trace;
  trace.gpu().compiled_graph("f", 0, 90);
  for (int i = 0; i < 3; ++i)
    trace.call(kAdd, 1 + 20 * i, {{kAdd, 100.0 + 20 * i, 4.0 + i}})
        .call("aten::mm", 11 + 20 * i, {{"nvjet_tst", 110.0 + 20 * i, 5.0 + i}});
  const std::string mm = "extern_kernels.mm";
  EXPECT_THAT(
      times(must(tie_measured(read_trace(trace), program_of({kAdd, mm, kAdd, mm, kAdd, mm})))),
      ElementsAre("4 name", "5 name", "5 name", "6 name", "6 name", "7 name"));
}

TEST(MeasuredKernels, WhatCannotBeTiedIsListedAndNotGuessed) {
  Trace trace;
  trace.gpu()
      .compiled_graph("f", 0, 90)
      .call(kAdd, 1, {{kAdd, 100, 4}})
      .call(kMul, 11, {{kMul, 110, 5}})
      .call("aten::bmm", 21, {{"nvjet_tst", 120, 6}});
  // One of the two calls of kAdd is missing in the trace.
  const MeasuredKernels measured =
      must(tie_measured(read_trace(trace), program_of({kAdd, kAdd, kMul, "extern_kernels.mm"})));
  EXPECT_THAT(times(measured), ElementsAre("-", "-", "5 name", "-"));
  EXPECT_THAT(measured.untied_kernels, ElementsAre(0U, 1U, 3U));
  EXPECT_THAT(measured.untied_calls, ElementsAre(0U, 2U));
}

TEST(MeasuredKernels, LibrariesInACudaGraphAreTiedByTheirNeighbors) {
  Trace trace;
  trace.gpu().compiled_graph("f", 0, 90).launch(77, 5);
  const auto kernel = [&](const char* name, double ts, double dur, int stream = 7) {
    trace.kernel(name, ts, dur, 77, 0, "kernel", stream);
  };
  kernel(kAdd, 100, 4);
  kernel("nvjet_tst", 105, 9);
  kernel("splitKreduce", 115, 2);
  kernel("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(x)", 101, 60, 21);
  kernel(kMul, 120, 4);
  kernel("nvjet_a", 125, 3);
  kernel("nvjet_b", 130, 5);
  kernel(kNorm, 140, 4);
  kernel("nvjet_c", 150, 3);
  kernel("nvjet_d", 155, 3);
  kernel("nvjet_e", 160, 3);
  const std::string mm = "extern_kernels.mm";
  const MeasuredKernels measured = must(
      tie_measured(read_trace(trace),
                   program_of({kAdd, mm, "torch.ops._c10d_functional.reduce_scatter_tensor.default",
                               kMul, mm, mm, kNorm, mm, mm})));
  EXPECT_THAT(times(measured), ElementsAre("4 name", "11 neighbors", "60 name", "4 name",
                                           "3 neighbors", "5 neighbors", "4 name", "-", "-"))
      << "three launches of the last two calls: which has two is unknown";
  EXPECT_THAT(measured.untied_kernels, ElementsAre(7U, 8U));
  EXPECT_EQ(measured.untied_calls.size(), 3U);
}

TEST(MeasuredKernels, TheGraphWithMostKernelsIsTaken) {
  Trace trace;
  trace.gpu().compiled_graph("forward", 0, 90).call(kAdd, 1, {{kAdd, 100, 4}});
  trace.compiled_graph("backward", 200, 90)
      .call(kAdd, 201, {{kAdd, 300, 8}})
      .call(kMul, 211, {{kMul, 310, 9}});
  const CompiledTrace both = read_trace(trace);
  const MeasuredKernels backward = must(tie_measured(both, program_of({kAdd, kMul})));
  EXPECT_EQ(both.graphs[backward.graph].key, "backward");
  EXPECT_THAT(times(backward), ElementsAre("8 name", "9 name"));
  EXPECT_THAT(times(must(tie_measured(both, program_of({kAdd})))), ElementsAre("4 name"));
}

TEST(MeasuredKernels, ATraceOfAnotherModelIsAnError) {
  Trace trace;
  trace.gpu().compiled_graph("f", 0, 90).call(kAdd, 1, {{kAdd, 100, 4}});
  const auto other = tie_measured(read_trace(trace), program_of({kMul}));
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("trace.json: no compiled graph in the trace"));
}

// --- Predicted kernels ---

struct Predicted {
  Graph graph;
  kernels::Ir ir;
  kernels::Kernels made;
};

Predicted predict(std::string_view literal) {
  Predicted predicted{parse(literal), {}, {}};
  predicted.ir = kernels::lower(predicted.graph, kNewestTorch);
  predicted.made = kernels::schedule(predicted.ir, kNewestTorch);
  return predicted;
}

constexpr std::string_view kTracedGraph = R"(
  x: f32[64,64] = input
  w: f32[64,64] = parameter
  a: f32[64,64] = aten.add.Tensor(x, 1)
  m: f32[64,64] = aten.mm(a, w)
  r: f32[64,64] = aten.relu(m)
  s: f32[64,64] = aten.mul.Tensor(r, 2)
  return [s]
)";

TEST(MeasuredKernels, PredictedOnesAreTiedByKindAndOperators) {
  const Predicted predicted = predict(kTracedGraph);
  ASSERT_EQ(predicted.made.kernels.size(), 3U);
  Trace trace;
  trace.gpu()
      .compiled_graph("f", 0, 90)
      .call("triton_poi_fused_add_0", 1, {{"triton_poi_fused_add_0", 100, 4}})
      .call("aten::mm", 11, {{"nvjet_tst", 110, 9}})
      .call("triton_poi_fused_mul_relu_1", 21, {{"triton_poi_fused_mul_relu_1", 120, 5}});
  const MeasuredKernels measured =
      must(tie_measured(read_trace(trace), predicted.graph, predicted.ir, predicted.made));
  EXPECT_THAT(times(measured), ElementsAre("4 operators", "9 name", "5 operators"));
}

// A literal does not say which operators the model called; captures do.
TEST(MeasuredKernels, WithoutOperatorsNeighborsDecide) {
  const Predicted predicted = predict(kTracedGraph);
  Trace trace;
  trace.gpu()
      .compiled_graph("f", 0, 90)
      .call("triton_poi_fused_linear_0", 1, {{"triton_poi_fused_linear_0", 100, 4}})
      .call("aten::mm", 11, {{"nvjet_tst", 110, 9}})
      .call("triton_poi_fused_gelu_1", 21, {{"triton_poi_fused_gelu_1", 120, 5}});
  EXPECT_THAT(
      times(must(tie_measured(read_trace(trace), predicted.graph, predicted.ir, predicted.made))),
      ElementsAre("4 neighbors", "9 name", "5 neighbors"));

  // If the capture says so, a kernel with another name is another kernel.
  Graph named = parse(kTracedGraph);
  for (const char* name : {"a", "r", "s"}) {
    Node& changed = named.node(named.find(name));
    changed.original_aten = named.intern("aten.add.Tensor");
  }
  const kernels::Ir ir = kernels::lower(named, kNewestTorch);
  EXPECT_THAT(times(must(tie_measured(read_trace(trace), named, ir, kernels::schedule(ir)))),
              ElementsAre("-", "9 name", "-"));
}

TEST(MeasuredKernels, OtherKindsAndOperatorsAreOtherKernels) {
  const Predicted predicted = predict(kTracedGraph);
  Trace trace;
  trace.gpu()
      .compiled_graph("f", 0, 90)
      .call("triton_red_fused_add_0", 1, {{"triton_red_fused_add_0", 100, 4}})
      .call("aten::mm", 11, {{"nvjet_tst", 110, 9}})
      .call("triton_poi_fused_relu_1", 21, {{"triton_poi_fused_relu_1", 120, 5}})
      .call("triton_poi_fused_cos_2", 31, {{"triton_poi_fused_cos_2", 130, 5}});
  const MeasuredKernels measured =
      must(tie_measured(read_trace(trace), predicted.graph, predicted.ir, predicted.made));
  EXPECT_THAT(times(measured), ElementsAre("-", "9 name", "-"));
  EXPECT_THAT(measured.untied_calls, ElementsAre(0U, 2U, 3U));
}

TEST(KernelLabels, NamesAreSplitIntoOperatorsOfTheGraph) {
  const Predicted predicted = predict(R"(
    x: f32[64,64] = input
    y: f32[64] = input
    v: f32[64,1] = aten.view(y, [64, 1])
    e: f32[64,64] = aten.add.Tensor(x, v)
    f: f32[64,64] = aten._softmax(e, -1, False)
    return [f]
  )");
  const KernelLabels labels(predicted.graph, predicted.ir, predicted.made);
  const auto of = [&](std::string_view name) { return labels.of_call(name, false, name); };
  EXPECT_EQ(of("triton_per_fused__softmax_add_view_0").exact, "reduction fused__softmax_add_view");
  EXPECT_EQ(of("triton_per_fused__softmax_add_view_0").rough, "reduction _softmax add");
  EXPECT_EQ(of("triton_red_fused__softmax_add_12").rough, "reduction _softmax add")
      << "whether the reduction is persistent, and its number, do not count";
  EXPECT_EQ(of("triton_per_fused_add__softmax_0").rough, "") << "names are sorted";
  EXPECT_EQ(of("triton_per_fused__softmax_cumsum_0").rough, "") << "not of this graph";
  EXPECT_EQ(of("triton_poi_fused_view_0").rough, "") << "only a view";
  EXPECT_EQ(of("triton_for_fused_3").exact, "foreach");
  EXPECT_EQ(of("aten::mm").exact, "aten::mm");
  EXPECT_EQ(of("triton_").exact, "");
  EXPECT_EQ(of("triton_poi").exact, "");
  EXPECT_EQ(of("cpp_fused").exact, "");
  EXPECT_EQ(labels.of_call("", true, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL").exact,
            "collective all-reduce");
}

TEST(MeasuredKernels, OnTheCpuKernelsOfOneFunctionAreMeasuredTogether) {
  // Two kernels of different sizes, one C++ function; then a product and another function.
  const Predicted predicted = predict(R"(
    device cpu
    x: f32[64,64] = input
    y: f32[512] = input
    w: f32[64,64] = parameter
    a: f32[64,64] = aten.add.Tensor(x, 1)
    c: f32[512] = aten.cos(y)
    m: f32[64,64] = aten.mm(a, w)
    r: f32[64,64] = aten.relu(m)
    return [r, c]
  )");
  ASSERT_EQ(predicted.made.kernels.size(), 4U);
  const KernelLabels labels(predicted.graph, predicted.ir, predicted.made);
  std::vector<std::int32_t> functions;
  for (const LabeledKernel& kernel : labels.kernels()) functions.push_back(kernel.function_of);
  EXPECT_THAT(functions, ElementsAre(-1, 0, -1, -1));
  EXPECT_EQ(labels.kernels()[0].label.exact, "cpp fused_add_cos");
  const MeasuredKernels measured =
      must(tie_measured(read_trace(Trace()
                                       .compiled_graph("f", 0, 90)
                                       .op("graph_0_cpp_fused_add_cos_0", 1, 6)
                                       .op("aten::mm", 10, 20)
                                       .op("graph_0_cpp_fused_relu_1", 40, 5)),
                        predicted.graph, predicted.ir, predicted.made));
  EXPECT_THAT(times(measured), ElementsAre("6 operators", "? operators", "20 name", "5 operators"));
  EXPECT_EQ(measured.kernels[1].counted_in, 0);
}

}  // namespace
}  // namespace jointer::test
