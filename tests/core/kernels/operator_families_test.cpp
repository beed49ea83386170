// One small graph for each family of operators: the ops that it is lowered to, and its kernels.
// tests/differential/test_kernel_families.py compares larger programs with Inductor.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/graph/literal.h"
#include "core/kernels/decompose.h"
#include "core/kernels/fx_arguments.h"
#include "core/kernels/kernels.h"
#include "core/kernels/lowering.h"
#include "core/kernels/pool_windows.h"
#include "tests/support/small_ir.h"

namespace jointer::kernels {
namespace {

using test::SmallIr;
using testing::Each;
using testing::ElementsAre;

Ir lowered(const std::string& text, TorchVersion version = kNewestTorch) {
  return lower(parse_literal(text).value(), version);
}

std::vector<std::string> classes(const std::string& text, TorchVersion version = kNewestTorch) {
  std::vector<std::string> names;
  for (const Op& op : lowered(text, version).ops) names.push_back(op.ir);
  return names;
}

// In a backward graph, fallbacks for which Inductor has no lowering demand contiguous inputs.
TEST(OperatorFamilies, RegisteredFallbacksDemandNoStrides) {
  const auto constraint = [](const char* call) {
    const Graph graph = parse_literal(std::string("kind backward\nx: f32[8,8] = tangent\n"
                                                  "y: f32[8,8] = ") +
                                      call + "\nreturn [y]")
                            .value();
    return call_constraint(graph.op(graph.node(graph.find("y"))), /*is_backward=*/true);
  };
  for (const char* call :
       {"aten.digamma(x)", "aten.polygamma(1, x)", "aten.special_i0e(x)", "aten.special_zeta(x, x)",
        "aten.igamma(x, x)", "aten.angle(x)", "aten.histc(x, 8)"})
    EXPECT_EQ(constraint(call), Constraint::none) << call;
  EXPECT_EQ(constraint("aten.renorm(x, 2, 0, 1.0)"), Constraint::contiguous);
}

TEST(OperatorFamilies, ActivationsBecomeLoops) {
  const std::string given = "x: f32[64,32] = input\ng: f32[64,32] = input\n";
  for (const char* call : {"aten.leaky_relu(x, 0.1)",
                           "aten.elu(x)",
                           "aten.softplus(x)",
                           "aten.hardswish(x)",
                           "aten.hardsigmoid(x)",
                           "aten.mish(x)",
                           "aten.hardtanh(x)",
                           "aten.threshold_backward(g, x, 0)",
                           "aten.leaky_relu_backward(g, x, 0.1, False)",
                           "aten.lerp.Scalar(x, g, 0.3)",
                           "aten.addcmul(x, g, g)",
                           "aten.addcdiv(x, g, g)",
                           "aten.nan_to_num(x)",
                           "aten.sgn(x)",
                           "aten.fill.Scalar(x, 2.0)",
                           "aten.copy(x, g)",
                           "aten.tril(x)",
                           "aten.triu(x, 1)",
                           "aten.flip(x, [0])",
                           "aten.roll(x, [3], [1])",
                           "aten.slice_scatter(x, g, 0, 0, 64)"})
    EXPECT_THAT(classes(given + "y: f32[64,32] = " + call + "\nreturn [y]\n"),
                ElementsAre("Pointwise"))
        << call;
}

TEST(OperatorFamilies, NegativePositionsCountFromTheEnd) {
  const auto numbers = [](const std::string& call, const std::string& shape, FxKind kind) {
    const Graph graph = parse_literal("x: f32[64,32] = input\ng: f32[64] = input\ny: f32[" + shape +
                                      "] = " + call + "\nreturn [y]\n")
                            .value();
    for (const FxNode& each : decompose(graph, PartId(0), kNewestTorch).nodes)
      if (each.kind == kind)
        return std::vector<std::int64_t>(each.numbers.begin(), each.numbers.end());
    return std::vector<std::int64_t>();
  };
  EXPECT_THAT(numbers("aten.narrow(x, -2, -8, 8)", "8,32", FxKind::slice),
              ElementsAre(0, 56, 64, 1));
  EXPECT_THAT(numbers("aten.narrow(x, 0, 4, 8)", "8,32", FxKind::slice), ElementsAre(0, 4, 12, 1));
  EXPECT_THAT(numbers("aten.slice.Tensor(x, -1, -8, -2)", "64,6", FxKind::slice),
              ElementsAre(1, 24, 30, 1));
  EXPECT_THAT(numbers("aten.slice.Tensor(x, 0, -70, 8)", "8,32", FxKind::slice),
              ElementsAre(0, 0, 8, 1));
  EXPECT_THAT(numbers("aten.select_scatter(x, g, -1, -2)", "64,32", FxKind::select_scatter),
              ElementsAre(1, 30));
}

TEST(OperatorFamilies, LossesAreReduced) {
  const std::string given = "x: f32[64,32] = input\ny: f32[64,32] = input\n";
  for (const char* call :
       {"aten.mse_loss(x, y)", "aten.l1_loss(x, y)", "aten.huber_loss(x, y)",
        "aten.smooth_l1_loss(x, y)", "aten.binary_cross_entropy_with_logits(x, y)"})
    EXPECT_THAT(classes(given + "l: f32[] = " + call + "\nreturn [l]\n"),
                ElementsAre("Reduction:sum", "Pointwise"))
        << call;
}

// Without outer dimensions, nothing is summed: the gradient of the bias is a copy. Both have the
// types of the weight and the bias.
TEST(OperatorFamilies, ALayerNormOfAVectorHasAllGradients) {
  const std::string given = R"(
    g: bf16[64] = input
    x: bf16[64] = input
    m: f32[1] = input
    r: f32[1] = input
    w: f32[64] = parameter
    b: f32[64] = parameter
    d: (bf16[64], f32[64], f32[64]) = aten.native_layer_norm_backward(g, x, [64], m, r, w, b, )";
  const Ir ir = lowered(given + R"([True, True, True])
    dw: f32[64] = d[1]
    db: f32[64] = d[2]
    return [dw, db]
  )");
  std::vector<std::int64_t> written;  // the sums belong to the gradient of the input
  for (const Op& op : ir.ops)
    if (op.ir == "Pointwise") written.push_back(op.writes[0].bytes);
  EXPECT_THAT(written, ElementsAre(64 * 4, 64 * 4));
}

TEST(OperatorFamilies, ReductionsHaveTheirClasses) {
  const std::string given = "x: f32[64,32] = input\n";
  EXPECT_THAT(classes(given + "y: i64[64] = aten.argmax(x, 1)\nreturn [y]\n"),
              ElementsAre("Reduction:argmax"));
  EXPECT_THAT(classes(given + "y: b8[] = aten.all(x)\nreturn [y]\n"),
              ElementsAre("Reduction:any", "Pointwise"));
  EXPECT_THAT(classes(given + "y: f32[64] = aten.linalg_vector_norm(x, 2, [1])\nreturn [y]\n"),
              ElementsAre("Reduction:sum", "Pointwise"));
  EXPECT_THAT(classes(given + "y: f32[64] = aten.logsumexp(x, [1])\nreturn [y]\n"),
              ElementsAre("Reduction:max", "Reduction:sum", "Pointwise"));
}

TEST(OperatorFamilies, AnExtremeAndItsPositionAreOneReduction) {
  const std::string text = R"(
    x: f32[64,32] = input
    m: (f32[64], i64[64]) = aten.max.dim(x, 1)
    v: f32[64] = m[0]
    i: i64[64] = m[1]
    return [v, i]
  )";
  EXPECT_THAT(classes(text), Each(std::string("ArgReduction:argmax_with_value")));
  EXPECT_THAT(classes(text, TorchVersion{2, 11}), ElementsAre("Reduction:max", "Reduction:argmax"));
}

TEST(OperatorFamilies, PaddingAtTheEndIsAConcatenation) {
  const Ir ir = lowered(R"(
    x: f32[64,32] = input
    y: f32[64,48] = aten.constant_pad_nd(x, [0, 16])
    z: f32[66,34] = aten.constant_pad_nd(x, [1, 1, 1, 1])
    return [y, z]
  )");
  EXPECT_THAT(ir.ops.back().loops, ElementsAre(66, 34));
}

TEST(OperatorFamilies, ABiasLeavesAProductWhoseReadersAreElementwise) {
  const std::string given = R"(
    x: f32[64,32] = input
    w: f32[32,16] = parameter
    b: f32[16] = parameter
    y: f32[64,16] = aten.addmm(b, x, w)
  )";
  const Ir split = lowered(given + "r: f32[64,16] = aten.relu(y)\nreturn [r]\n");
  ASSERT_EQ(split.ops.size(), 2U);
  EXPECT_EQ(split.ops[0].target, "aten.mm.default");
  EXPECT_EQ(split.ops[1].ir, "Pointwise");
  const Ir whole = lowered(given + "return [y]\n");
  ASSERT_EQ(whole.ops.size(), 1U);
  EXPECT_EQ(whole.ops[0].target, "aten.addmm.default");
}

TEST(OperatorFamilies, ACallThatWritesToAListChangesEachTensor) {
  const Ir ir = lowered(R"(
    x: f32[64] = input
    a: f32[32] = input
    b: f32[32] = input
    s: f32[] = aten.split_with_sizes_copy.out(x, [32, 32], 0, out=[a, b])
    return [a, b]
  )");
  std::size_t changed = 0;
  for (const Buffer& buffer : ir.buffers) changed += buffer.mutates.size();
  EXPECT_EQ(changed, 2U);
}

TEST(OperatorFamilies, RandomNumbersOfAGraphShareTheirSeeds) {
  const Ir ir = lowered(R"(
    x: f32[64,32] = input
    d: (f32[64,32], b8[64,32]) = aten.native_dropout(x, 0.1, True)
    y: f32[64,32] = d[0]
    m: b8[64,32] = d[1]
    e: (f32[64,32], b8[64,32]) = aten.native_dropout(y, 0.1, True)
    z: f32[64,32] = e[0]
    return [z, m]
  )");
  std::size_t seeds = 0;
  for (const Op& op : ir.ops) seeds += op.ir == "RandomSeeds" ? 1 : 0;
  EXPECT_EQ(seeds, 1U);
}

TEST(OperatorFamilies, CallsWithImpossibleArgumentsAreCallsOfALibrary) {
  const std::string given =
      "x: f32[64,32] = input\nv: f32[64] = input\ns: f32[] = input\nn: f32[0,32] = input\n"
      "p: f32[2,4,8,8] = input\n";
  for (const char* call :
       {"f32[0,0,32] = aten.unfold(n, 0, 0, 1)", "f32[1,32,4] = aten.unfold(x, 0, 4, 0)",
        "f32[1,32,4] = aten.unfold(x, 0, 4, -1)", "f32[1,32,4] = aten.unfold(x, 7, 4, 1)",
        "f32[2,1,16,16] = aten.pixel_shuffle(p, 0)", "f32[2,1,16,16] = aten.pixel_unshuffle(p, 0)",
        "f32[64] = aten.tril(v)", "f32[64,32] = aten.flip(x, [40])",
        "f32[64,32] = aten.flip(x, [-3])", "f32[64,32] = aten.roll(x, [3], [5])",
        "f32[64] = aten.sum.dim_IntList(x, [90])", "f32[64] = aten.select.int(x, 2, 0)",
        "f32[] = aten.select.int(s, 0, 0)", "f32[64,32] = aten._softmax(x, 20, False)",
        "f32[32,64] = aten.permute(x, [1])", "f32[32,64] = aten.repeat(x, [2])",
        "f32[2,4,8,8] = aten.avg_pool2d(p, [4611686018427387904, 4])",
        "f32[2,4,8,8] = aten.avg_pool2d(p, [2, 2], [0, 2])",
        "f32[4,8,8] = aten.avg_pool2d(p, [2, 2])"}) {
    const Ir ir = lowered(given + "y: " + call + "\nreturn [y]\n");
    ASSERT_FALSE(ir.ops.empty()) << call;
    EXPECT_TRUE(ir.ops[0].kind == Op::Kind::extern_ || ir.ops[0].kind == Op::Kind::view) << call;
  }
  const Ir norm = lowered(
      given +
      "g: (f32[2,4,8,8], f32[2,0], f32[2,0]) = aten.native_group_norm(p, None, None, 2, 4, 64, 0, "
      "1e-05)\ny: f32[2,4,8,8] = g[0]\nreturn [y]\n");
  ASSERT_FALSE(norm.ops.empty());
  EXPECT_EQ(norm.ops[0].kind, Op::Kind::extern_);
}

TEST(OperatorFamilies, PoolingOfSmallWindowsBecomesLoops) {
  const std::string given = "x: f32[2,4,8,8] = input\n";
  EXPECT_THAT(classes(given + "y: f32[2,4,4,4] = aten.avg_pool2d(x, [2, 2])\nreturn [y]\n"),
              ElementsAre("Pointwise"));
  EXPECT_THAT(
      classes(given + "p: (f32[2,4,4,4], i64[2,4,4,4]) = aten.max_pool2d_with_indices(x, [2, 2])\n"
                      "y: f32[2,4,4,4] = p[0]\ni: i64[2,4,4,4] = p[1]\nreturn [y, i]\n"),
      ElementsAre("Pointwise", "Pointwise", "Pointwise"))
      << "positions in the window are stored, and then become positions in the input";
}

// A graph that Inductor has decomposed has the calls of its decompositions.
TEST(OperatorFamilies, CallsOfDecomposedGraphsAreThoseOfTheOriginals) {
  const std::string given = "x: f32[2,4,8,8] = input\n";
  const auto pooled = classes(given +
                              "p: (f32[2,4,4,4], i64[2,4,4,4]) = "
                              "aten.max_pool2d_with_indices(x, [3, 3], [2, 2], [1, 1])\n"
                              "y: f32[2,4,4,4] = p[0]\ni: i64[2,4,4,4] = p[1]\nreturn [y, i]\n");
  EXPECT_THAT(pooled, testing::Not(testing::Contains("FallbackKernel")));
  EXPECT_EQ(
      classes(given + "p: (f32[2,4,4,4], i8[2,4,4,4]) = prims._low_memory_max_pool_with_offsets("
                      "x, [3, 3], [2, 2], [1, 1], [1, 1], False)\n"
                      "y: f32[2,4,4,4] = p[0]\no: i8[2,4,4,4] = p[1]\n"
                      "i: i64[2,4,4,4] = prims._low_memory_max_pool_offsets_to_indices("
                      "o, [3, 3], [8, 8], [2, 2], [1, 1], [1, 1])\nreturn [y, i]\n"),
      pooled);
  EXPECT_THAT(classes(given + "y: f32[2,4,8,8] = prims.rev(x, [0])\nreturn [y]\n"),
              ElementsAre("Pointwise"));
}

TEST(OperatorFamilies, AdaptivePoolsBecomeLoopsUnlessTheirWindowsAreLarge) {
  const std::string given = "x: f32[2,4,30,30] = input\n";
  const auto of_average = [&](const char* result, const char* size) {
    return classes(given + "y: " + result + " = aten._adaptive_avg_pool2d(x, " + size +
                   ")\nreturn [y]\n");
  };
  const auto of_maximum = [&](const std::string& shape, const char* size) {
    return classes(given + "p: (f32" + shape + ", i64" + shape +
                   ") = aten.adaptive_max_pool2d(x, " + size + ")\ny: f32" + shape +
                   " = p[0]\ni: i64" + shape + " = p[1]\nreturn [y, i]\n");
  };
  EXPECT_THAT(of_average("f32[2,4,8,8]", "[8, 8]"), ElementsAre("Pointwise"));
  EXPECT_THAT(of_average("f32[2,4,40,40]", "[40, 40]"), ElementsAre("Pointwise"));
  EXPECT_THAT(of_average("f32[2,4,7,7]", "[7, 7]"), ElementsAre("FallbackKernel"));
  EXPECT_THAT(of_maximum("[2,4,8,8]", "[8, 8]"), ElementsAre("Pointwise", "Pointwise"));
  EXPECT_THAT(of_maximum("[2,4,15,10]", "[15, 10]"),
              ElementsAre("Pointwise", "Pointwise", "Pointwise"))
      << "windows of equal size, as in max_pool2d";
  EXPECT_THAT(of_maximum("[2,4,1,1]", "[1, 1]"), ElementsAre("Reduction:max", "Reduction:argmax"));
  EXPECT_EQ(of_maximum("[2,4,7,7]", "[7, 7]").front(), "FallbackKernel");
}

TEST(OperatorFamilies, IndicesOfTrianglesBecomeLoops) {
  const auto of = [](const std::string& call) {
    return classes("y: i64" + call + "\nz: i64" + call.substr(0, call.find(' ')) +
                   " = aten.add.Tensor(y, 1)\nreturn [z]\n");
  };
  for (const char* call :
       {"[2,6] = aten.tril_indices(4, 4, -1)", "[2,7] = aten.tril_indices(4, 2)",
        "[2,5] = aten.triu_indices(2, 4, 1)", "[2,5] = aten.triu_indices(4, 2, -1)"})
    EXPECT_THAT(of(call), ElementsAre("Pointwise")) << call;
  EXPECT_THAT(of("[2,5] = aten.tril_indices(4, 4, -1)"), testing::Contains("FallbackKernel"))
      << "the triangle has 6 elements";
}

TEST(OperatorFamilies, WindowsOverAnElementAreCounted) {
  EXPECT_EQ(windows_over(2, 2), 1);
  EXPECT_EQ(windows_over(3, 2), 2);
  EXPECT_EQ(windows_over(3, 1), 3);
  EXPECT_EQ(windows_over(1, 4), 1);
}

TEST(OperatorFamilies, ARepeatedConcatenationIsExpanded) {
  const Ir ir = lowered(R"(
    x: f32[64,32] = input
    y: f32[64,64] = aten.cat([x, x], 1)
    return [y]
  )");
  ASSERT_EQ(ir.ops.size(), 1U);
  EXPECT_EQ(ir.ops[0].reads.size(), 1U);
}

TEST(OperatorFamilies, BoundariesAreReadAsAWhole) {
  const Ir ir = lowered(R"(
    x: f32[64] = input
    s: f32[100] = input
    y: i64[64] = aten.searchsorted.Tensor(s, x)
    return [y]
  )");
  ASSERT_EQ(ir.ops.size(), 1U);
  ASSERT_EQ(ir.ops[0].reads.size(), 2U);
  EXPECT_EQ(ir.ops[0].reads[1].kind, Access::Kind::star);
}

TEST(OperatorFamilies, ConvolutionsOfManyChannelsHaveThemInnermost) {
  const Ir ir = lowered(R"(
    x: f32[2,96,8,8] = input
    w: f32[96,96,3,3] = parameter
    y: f32[2,96,8,8] = aten.convolution(x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    z: f32[2,96,8,8] = aten.relu(y)
    return [z]
  )");
  ASSERT_EQ(ir.ops.size(), 4U) << "both inputs are copied";
  const Buffer& made = ir.buffers[static_cast<std::size_t>(ir.ops[2].outputs[0])];
  EXPECT_THAT(made.stride, ElementsAre(6144, 1, 768, 96));
}

// An input that a convolution reads and the graph returns, as saved for backward, is copied once,
// before all other operations, and the copy is returned.
TEST(OperatorFamilies, SavedInputsOfAConvolutionAreReturnedWithChannelsInnermost) {
  const Ir ir = lowered(R"(
    w: f32[96,96,3,3] = parameter
    x: f32[2,96,8,8] = input
    first: f32[2,96,8,8] = aten.exp(x)
    y: f32[2,96,8,8] = aten.convolution(first, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    return [y, w]
  )");
  ASSERT_EQ(ir.ops.size(), 3U);
  EXPECT_EQ(ir.buffers[static_cast<std::size_t>(ir.ops[0].reads[0].buffer)].name, "w");
  const Buffer& copy = ir.buffers[static_cast<std::size_t>(ir.ops[0].outputs[0])];
  EXPECT_THAT(copy.stride, ElementsAre(864, 1, 288, 96));
  EXPECT_TRUE(copy.is_output);
  EXPECT_EQ(ir.ops[2].reads[1].buffer, ir.ops[0].outputs[0]);
}

// The loops that add a bias count as the convolution in Inductor, if they compute nothing else.
TEST(OperatorFamilies, AKernelThatAddsABiasHasTheFlopsOfItsConvolution) {
  const std::string convolution = R"(
    x: f32[2,8,16,16] = input
    w: f32[8,8,3,3] = parameter
    b: f32[8] = parameter
    y: f32[2,8,16,16] = aten.convolution(x, w, b, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
  )";
  const Graph alone = parse_literal(convolution + "return [y]").value();
  const Kernels kernels = schedule(lower(alone, kNewestTorch));
  ASSERT_EQ(kernels.kernels.size(), 2U);
  const Kernel& bias = kernels.kernels[1];
  EXPECT_EQ(bias.kind, Kernel::Kind::pointwise);
  EXPECT_EQ(bias.call, alone.find("y"));
  EXPECT_FALSE(is_memory_bound(bias, /*has_flops=*/true));
  EXPECT_TRUE(is_memory_bound(bias, /*has_flops=*/false));
  const Kernels more =
      schedule(lowered(convolution + "z: f32[2,8,16,16] = aten.relu(y)\nreturn [z]"));
  ASSERT_EQ(more.kernels.size(), 2U);
  EXPECT_FALSE(more.kernels[1].call);
  EXPECT_TRUE(is_memory_bound(more.kernels[1], /*has_flops=*/true));
}

// --- Foreach kernels ---

TEST(OperatorFamilies, ListsAreOneKernel) {
  const Ir ir = lowered(R"(
    a: f32[64] = input
    b: f32[32,8] = input
    c: f32[64] = input
    d: f32[32,8] = input
    s: (f32[64], f32[32,8]) = aten._foreach_add.List([a, b], [c, d])
    s0: f32[64] = s[0]
    s1: f32[32,8] = s[1]
    m: (f32[64], f32[32,8]) = aten._foreach_mul.Scalar([s0, s1], 2.0)
    m0: f32[64] = m[0]
    m1: f32[32,8] = m[1]
    return [s0, s1, m0, m1]
  )");
  ASSERT_EQ(ir.lists.size(), 2U);
  const Kernels kernels = schedule(ir);
  ASSERT_EQ(kernels.kernels.size(), 1U);
  EXPECT_EQ(kernels.kernels[0].kind, Kernel::Kind::foreach_);
  EXPECT_THAT(kernels.kernels[0].ops, ElementsAre(0, 2, 1, 3)) << "part by part";
}

TEST(OperatorFamilies, ListsThatAreChangedInPlaceAreOneKernel) {
  const Ir ir = lowered(R"(
    a: f32[64] = input
    b: f32[32] = input
    c: f32[64] = input
    d: f32[32] = input
    s: f32[] = aten._foreach_add_.List([a, b], [c, d])
    return [c]
  )");
  ASSERT_EQ(ir.ops.size(), 2U);
  const Kernels kernels = schedule(ir);
  ASSERT_EQ(kernels.kernels.size(), 1U);
  EXPECT_EQ(kernels.kernels[0].kind, Kernel::Kind::foreach_);
}

// As in the step of an optimizer that was made functional.
TEST(OperatorFamilies, ListsThatAreCopiedIntoTheirInputsAreChangedInPlace) {
  const std::string start = R"(
    a: f32[64] = input
    b: f32[32] = input
    c: f32[64] = input
    d: f32[32] = input
    s: (f32[64], f32[32]) = aten._foreach_add.List([a, b], [c, d])
    s0: f32[64] = s[0]
    s1: f32[32] = s[1])";
  const std::string end = R"(
    u: f32[64] = aten.copy_(a, s0)
    v: f32[32] = aten.copy_(b, s1)
    return )";
  const Ir ir = lowered(start + end + "[c]");
  ASSERT_EQ(ir.ops.size(), 2U);
  for (const Op& op : ir.ops)
    EXPECT_EQ(ir.buffers[static_cast<std::size_t>(op.outputs.front())].mutates.size(), 1U);
  const Ir read = lowered(start + "\n    t: f32[64] = aten.neg(a)" + end + "[t]");
  EXPECT_EQ(read.ops.size(), 5U) << "the old value is read after the call";
}

TEST(OperatorFamilies, ListsAreChangedBeforeReadersOfTheOldValuesAreComputed) {
  const Ir ir = lowered(R"(
    a: f32[64] = input
    b: f32[64] = input
    c: f32[64] = input
    d: f32[64] = input
    s: (f32[64], f32[64]) = aten._foreach_sub.List([c, d], [a, b])
    s0: f32[64] = s[0]
    s1: f32[64] = s[1]
    t: f32[] = aten._foreach_add_.List([a, b], [s0, s1])
    return [c]
  )");
  ASSERT_EQ(ir.ops.size(), 4U);
  ASSERT_EQ(ir.lists.size(), 1U);
  EXPECT_THAT(ir.lists[0], ElementsAre(0, 1));
}

// Torch looks for readers among the parts of the kernel, which are made of two operations here.
TEST(OperatorFamilies, PartsOfAKernelForListsWriteWhatTheyReadThemselves) {
  const Kernels kernels = schedule(lowered(R"(
    a: f32[64] = input
    b: f32[32] = input
    c: f32[64] = input
    d: f32[32] = input
    m: (f32[64], f32[32]) = aten._foreach_mul.Scalar([a, b], 2.0)
    m0: f32[64] = m[0]
    m1: f32[32] = m[1]
    s: (f32[64], f32[32]) = aten._foreach_add.List([m0, m1], [c, d])
    s0: f32[64] = s[0]
    s1: f32[32] = s[1]
    u: f32[64] = aten.copy_(a, s0)
    v: f32[32] = aten.copy_(b, s1)
    return [c]
  )"));
  ASSERT_EQ(kernels.kernels.size(), 1U);
  EXPECT_EQ(kernels.kernels[0].kind, Kernel::Kind::foreach_);
  EXPECT_EQ(kernels.kernels[0].bytes_written, 2 * (64 + 32) * 4);
}

TEST(OperatorFamilies, AnOpOfAListThatReadsAnotherStartsAKernel) {
  SmallIr small;
  const BufferId x = small.input({64});
  const BufferId a = small.pointwise({64}, {{x, {1}}});
  const BufferId b = small.pointwise({64}, {{a, {1}}});
  small.output(a);
  small.output(b);
  small.ir.lists = {{0, 1}};
  const Kernels kernels = schedule(small.ir);
  for (const Kernel& kernel : kernels.kernels) EXPECT_EQ(kernel.kind, Kernel::Kind::foreach_);
}

// `b` reads one result of the list, and the other one reads `s`.
TEST(OperatorFamilies, KernelsAroundAListThatDependsOnOneOfThemStayApart) {
  const Kernels kernels = schedule(lowered(R"(
    x: f32[64,32] = input
    y: f32[64] = input
    s: f32[64] = aten.sum.dim_IntList(x, [1])
    m: (f32[64], f32[64]) = aten._foreach_mul.Scalar([s, y], 2.0)
    m0: f32[64] = m[0]
    m1: f32[64] = m[1]
    w: f32[64,1] = aten.unsqueeze(m1, 1)
    p: f32[64,32] = aten.mul.Tensor(x, w)
    b: f32[64] = aten.sum.dim_IntList(p, [1])
    return [m0, b]
  )"));
  EXPECT_EQ(kernels.kernels.size(), 3U);
}

// --- Templates ---

TEST(OperatorFamilies, ATemplateTakesInElementwiseReaders) {
  SmallIr small;
  const BufferId x = small.input({64, 32});
  const BufferId before = small.pointwise({64, 32}, {{x, {32, 1}}});
  const BufferId made = small.pointwise({64, 32}, {{before, {32, 1}}});
  small.ir.ops.back().kind = Op::Kind::template_;
  const BufferId after = small.pointwise({64, 32}, {{made, {32, 1}}});
  small.output(after);
  const Kernels kernels = schedule(small.ir);
  ASSERT_EQ(kernels.kernels.size(), 2U);
  EXPECT_THAT(kernels.kernels[1].ops, ElementsAre(1, 2));
  EXPECT_EQ(kernels.kernels[1].kind, Kernel::Kind::template_);
  EXPECT_GT(kernels.refusals[static_cast<std::size_t>(Refusal::beside_template)], 0);
}

}  // namespace
}  // namespace jointer::kernels
