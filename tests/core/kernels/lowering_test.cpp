// The loops and calls that small graphs are lowered to. tests/differential/test_lowering.py
// compares whole models with Inductor.

#include "core/kernels/lowering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/literal.h"
#include "core/kernels/lowering_state.h"

namespace jointer::kernels {
namespace {

using testing::ElementsAre;

class Lowered {
 public:
  explicit Lowered(const std::string& text, TorchVersion version = kNewestTorch)
      : graph_(parse_literal(text).value()), ir_(lower(graph_, version)) {}

  [[nodiscard]] const Ir& ir() const { return ir_; }
  [[nodiscard]] const Op& op(std::size_t i) const { return ir_.ops[i]; }
  [[nodiscard]] std::vector<std::string> classes() const {
    std::vector<std::string> names;
    for (const Op& op : ir_.ops) names.push_back(op.ir);
    return names;
  }
  [[nodiscard]] std::vector<std::string> nodes(std::size_t i) const {
    std::vector<std::string> names;
    for (const NodeId id : ir_.ops[i].nodes) names.emplace_back(graph_.name(id));
    std::ranges::sort(names);
    return names;
  }
  [[nodiscard]] std::vector<std::string> reads(std::size_t i) const {
    std::vector<std::string> names;
    for (const Access& read : ir_.ops[i].reads)
      names.push_back(ir_.buffers[static_cast<std::size_t>(read.buffer)].name);
    return names;
  }

 private:
  Graph graph_;
  Ir ir_;
};

TEST(Lowering, InlinesElementwiseOperations) {
  const Lowered lowered(R"(
    x: f32[8,16] = input
    e: f32[8,16] = aten.exp(x)
    y: f32[8,16] = aten.mul.Tensor(e, x)
    return [y]
  )");
  EXPECT_THAT(lowered.classes(), ElementsAre("Pointwise"));
  EXPECT_THAT(lowered.nodes(0), ElementsAre("e", "y"));
  EXPECT_THAT(lowered.reads(0), ElementsAre("x"));
  EXPECT_THAT(lowered.op(0).loops, ElementsAre(8, 16));
  EXPECT_EQ(lowered.op(0).reads[0].bytes, 8 * 16 * 4);
  EXPECT_EQ(lowered.op(0).writes[0].bytes, 8 * 16 * 4);
}

TEST(Lowering, FoldsViewsIntoPositions) {
  const Lowered lowered(R"(
    x: f32[8,16] = input
    t: f32[16,8] = aten.t(x)
    y: f32[16,8] = aten.exp(t)
    return [y]
  )");
  ASSERT_THAT(lowered.classes(), ElementsAre("Pointwise"));
  EXPECT_THAT(lowered.op(0).loops, ElementsAre(16, 8));
  const Index& read = lowered.op(0).reads[0].index;
  ASSERT_EQ(read.terms.size(), 2U);
  for (const IndexTerm& term : read.terms)
    EXPECT_EQ(term.coefficient, term.inner.front().loop == 0 ? 1 : 16);
}

TEST(Lowering, ConcatenatesEmptyTensors) {
  const Lowered lowered(R"(
    x: f32[0,8] = input
    y: f32[0,8] = input
    z: f32[0,8] = aten.cat([x, y])
    return [z]
  )");
  EXPECT_EQ(lowered.ir().buffers.back().bytes, 0);
}

// Captures may be wrong: the result cannot have more elements than the tensors.
TEST(Lowering, AConcatenationOfTooFewElementsIsNoRepetition) {
  const Lowered lowered(R"(
    x: f32[0,16] = input
    y: f32[29,16] = aten.cat([x, x, x])
    z: f32[29,16] = aten.exp(y)
    return [z]
  )");
  EXPECT_FALSE(lowered.ir().ops.empty());
}

// Nor can a view.
TEST(Lowering, AViewOfATensorWithoutElementsReadsNone) {
  const Lowered lowered(R"(
    x: f32[2,0,3] = input
    e: f32[2,0,3] = aten.exp(x)
    v: f32[3,1,2] = aten.view(e, [3, 1, 2])
    y: f32[3,1,2] = aten.exp(v)
    return [y]
  )");
  EXPECT_FALSE(lowered.ir().ops.empty());
}

TEST(Lowering, MakesABufferOfWhatACallReads) {
  const Lowered lowered(R"(
    x: f32[8,16] = input
    w: f32[16,4] = parameter
    e: f32[8,16] = aten.exp(x)
    y: f32[8,4] = aten.mm(e, w)
    return [y]
  )");
  EXPECT_THAT(lowered.classes(), ElementsAre("Pointwise", "ExternKernelOut"));
  EXPECT_EQ(lowered.op(1).kind, Op::Kind::extern_);
  EXPECT_THAT(lowered.reads(1), ElementsAre("buf0", "w"));
}

TEST(Lowering, ReducesAnInnerDimension) {
  const Lowered lowered(R"(
    x: f32[64,256] = input
    s: f32[64] = aten.sum.dim_IntList(x, [1])
    return [s]
  )");
  ASSERT_THAT(lowered.classes(), ElementsAre("Reduction:sum"));
  EXPECT_THAT(lowered.op(0).loops, ElementsAre(64));
  EXPECT_THAT(lowered.op(0).reduced, ElementsAre(256));
  EXPECT_EQ(lowered.op(0).rnumel, 256);
}

TEST(Lowering, SplitsAReductionOfAnOuterDimension) {
  const Lowered lowered(R"(
    x: f32[4096,256] = input
    s: f32[256] = aten.sum.dim_IntList(x, [0])
    return [s]
  )");
  ASSERT_THAT(lowered.classes(), ElementsAre("Reduction:sum", "Reduction:sum"));
  EXPECT_THAT(lowered.op(0).loops, ElementsAre(32, 256));
  EXPECT_THAT(lowered.op(0).reduced, ElementsAre(128));
  EXPECT_EQ(lowered.op(0).split, 128);
  EXPECT_THAT(lowered.op(0).unsplit_reduced, ElementsAre(4096));
  EXPECT_THAT(lowered.op(1).reduced, ElementsAre(32));
}

TEST(Lowering, UnrollsASmallReduction) {
  const Lowered lowered(R"(
    x: f32[64,4] = input
    s: f32[64] = aten.sum.dim_IntList(x, [1])
    return [s]
  )");
  ASSERT_THAT(lowered.classes(), ElementsAre("Pointwise"));
  EXPECT_EQ(lowered.op(0).reads.size(), 4U);
}

TEST(Lowering, ChainsCollectivesAndNamesWaitedBuffers) {
  const Lowered lowered(R"(
    group tp: 0 1
    x: f32[8,16] = input
    g: f32[16,16] = _c10d_functional.all_gather_into_tensor(x, 2, 'tp')
    w: f32[16,16] = _c10d_functional.wait_tensor(g)
    h: f32[32,16] = _c10d_functional.all_gather_into_tensor(w, 2, 'tp')
    v: f32[32,16] = _c10d_functional.wait_tensor(h)
    return [v]
  )");
  EXPECT_THAT(lowered.classes(),
              ElementsAre("_CollectiveKernel", "_WaitKernel", "_CollectiveKernel", "_WaitKernel"));
  EXPECT_THAT(lowered.reads(1), ElementsAre("buf0", "x")) << "the input must stay until the wait";
  // The second gather reads what the wait defines.
  EXPECT_THAT(lowered.reads(2), testing::Contains("buf2"));
  EXPECT_TRUE(lowered.op(2).has_side_effects);
}

TEST(Lowering, AddsInPlaceAcrossRanks) {
  const Lowered lowered(R"(
    group tp: 0 1
    x: f32[8,16] = input
    e: f32[8,16] = aten.exp(x)
    r: f32[8,16] = _c10d_functional.all_reduce(e, 'sum', 'tp')
    w: f32[8,16] = _c10d_functional.wait_tensor(r)
    return [w]
  )");
  EXPECT_THAT(lowered.classes(), ElementsAre("Pointwise", "_AllReduce_Kernel", "_WaitKernel"));
}

TEST(Lowering, KeepsAnUnknownOperatorAsACall) {
  const Lowered lowered(R"(
    x: f32[8,16] = input
    y: f32[8,16] = mylib.strange.default(x)
    return [y]
  )");
  EXPECT_THAT(lowered.classes(), ElementsAre("FallbackKernel"));
  const Lowered older(R"(
    x: f32[8,16] = input
    y: f32[8,16] = mylib.strange.default(x)
    return [y]
  )",
                      TorchVersion{2, 11});
  EXPECT_THAT(older.classes(), ElementsAre("FallbackKernel", "MultiOutput"));
}

TEST(Lowering, ComputesManyReadValuesOnce) {
  // A value that reads five tensors and has two readers becomes a buffer.
  const Lowered lowered(R"(
    a: f32[8] = input
    b: f32[8] = input
    c: f32[8] = input
    d: f32[8] = input
    e: f32[8] = input
    s1: f32[8] = aten.add.Tensor(a, b)
    s2: f32[8] = aten.add.Tensor(s1, c)
    s3: f32[8] = aten.add.Tensor(s2, d)
    s4: f32[8] = aten.add.Tensor(s3, e)
    x: f32[8] = aten.exp(s4)
    y: f32[8] = aten.neg(s4)
    return [x, y]
  )");
  EXPECT_THAT(lowered.classes(), ElementsAre("Pointwise", "Pointwise", "Pointwise"));
  EXPECT_THAT(lowered.reads(1), ElementsAre("buf0"));
}

TEST(Lowering, RemovesACopyThatChangesNothing) {
  const Lowered lowered(R"(
    x: f32[8,16] = input
    c: f32[8,16] = aten.clone(x)
    y: f32[8,16] = aten.exp(c)
    return [y]
  )");
  EXPECT_THAT(lowered.nodes(0), ElementsAre("y"));
}

TEST(Lowering, EqualReadsCountOnceInTheOrderOfStrides) {
  // `z` reads `s4` at the same position twice: before and after `m` decides the strides of `s4`.
  // One such read and that of `v` prefer opposite orders, so the loops keep theirs.
  const Lowered lowered(R"(
    a: f32[16,8] = input
    b: f32[16,8] = input
    c: f32[16,8] = input
    d: f32[16,8] = input
    e: f32[16,8] = input
    w: f32[8,4] = input
    bias: f32[4] = input
    v: f32[8,16] = input
    k1: f32[] = input
    k2: f32[] = input
    k3: f32[] = input
    s1: f32[16,8] = aten.add.Tensor(a, b)
    s2: f32[16,8] = aten.add.Tensor(s1, c)
    s3: f32[16,8] = aten.add.Tensor(s2, d)
    s4: f32[16,8] = aten.add.Tensor(s3, e)
    y: f32[16,8] = aten.neg(s4)
    m: f32[16,4] = aten.addmm(bias, s4, w)
    yt: f32[8,16] = aten.t(y)
    st: f32[8,16] = aten.t(s4)
    z1: f32[8,16] = aten.add.Tensor(yt, st)
    z2: f32[8,16] = aten.add.Tensor(z1, v)
    z3: f32[8,16] = aten.add.Tensor(z2, k1)
    z4: f32[8,16] = aten.add.Tensor(z3, k2)
    z: f32[8,16] = aten.add.Tensor(z4, k3)
    p: f32[8,16] = aten.exp(z)
    q: f32[8,16] = aten.neg(z)
    return [m, p, q]
  )");
  ASSERT_THAT(lowered.classes(),
              ElementsAre("Pointwise", "ExternKernelOut", "Pointwise", "Pointwise", "Pointwise"));
  ASSERT_THAT(lowered.nodes(2), testing::Contains("z"));
  const BufferId z = lowered.op(2).writes[0].buffer;
  EXPECT_THAT(lowered.ir().buffers[static_cast<std::size_t>(z)].stride, ElementsAre(16, 1));
}

TEST(Lowering, ComputesFactorsBeforeWhatIsAddedToTheirProduct) {
  const Lowered lowered(R"(
    x: bf16[16,8] = input
    w: bf16[8,4] = input
    bias: bf16[4] = input
    b: bf16[4] = aten.relu(bias)
    f: bf16[8,4] = aten.relu(w)
    y: bf16[16,4] = aten.addmm(b, x, f)
    return [y]
  )");
  ASSERT_THAT(lowered.classes(), ElementsAre("Pointwise", "Pointwise", "ExternKernelOut"));
  EXPECT_THAT(lowered.nodes(0), ElementsAre("f"));
  EXPECT_THAT(lowered.nodes(1), ElementsAre("b"));
}

// `s` has two readers. If one is an mm, it is computed before `t`.
TEST(Lowering, ComputesWhatAnAddmmReadsNoEarlierThanTheCall) {
  for (const bool is_addmm : {false, true}) {
    const Lowered lowered(std::string(R"(
      x: bf16[16,8] = input
      v: bf16[16,8] = input
      w: bf16[8,4] = input
      b: bf16[16,4] = input
      s: bf16[16,8] = aten.mul.Tensor(x, v)
      t: bf16[16,8] = aten.div.Tensor(v, x)
      z: bf16[16,4] = aten.mm(t, w))") +
                          (is_addmm ? "\n      y: bf16[16,4] = aten.addmm(b, s, w)"
                                    : "\n      y: bf16[16,4] = aten.mm(s, w)") +
                          R"(
      r: bf16[16] = aten.sum.dim_IntList(s, [1])
      return [z, y, r]
    )");
    ASSERT_GE(lowered.ir().ops.size(), 4U);
    EXPECT_THAT(lowered.nodes(0), ElementsAre(is_addmm ? "t" : "s"));
  }
}

// The copy of a result that has to be stored as captured names what was computed for it.
TEST(Lowering, CopiesOfSelectedResultsNameWhatTheyCompute) {
  const Lowered lowered(R"(
    x: f32[2,4,16,16] = input
    y: f32[2,4,16,16] = aten.mul.Tensor(x, 2.0)
    p: (f32[2,4,8,8], i8[2,4,8,8]) = prims._low_memory_max_pool_with_offsets.default(y, [2, 2], [2, 2], [0, 0], [1, 1], False)
    v: f32[2,4,8,8] = p[0]
    o: i8[2,4,8,8] = p[1]
    return [v, o]
  )");
  ASSERT_EQ(lowered.ir().ops.size(), 2U);
  for (const std::size_t op : {0U, 1U}) EXPECT_THAT(lowered.nodes(op), testing::Contains("y"));
}

// Each op numbers the values that it looks up, whatever they are, each time that it does.
TEST(Lowering, LookupsAreEqualIfTheirNumbersAre) {
  const Lowered lowered(R"(
    x: f32[100,256] = input
    i: i64[64] = input
    j: i64[64] = input
    a: f32[64,256] = aten.index.Tensor(x, [i])
    b: f32[64,256] = aten.index.Tensor(x, [j])
    k: f32[64,256] = aten.index.Tensor(x, [i])
    c: f32[64,256] = aten.mul.Tensor(k, k)
    s: f32[100,256] = aten.silu(x)
    d: f32[64,256] = aten.index.Tensor(s, [i])
    return [a, b, c, d]
  )");
  ASSERT_EQ(lowered.ir().ops.size(), 4U);
  const auto in_table = [&](std::size_t op) {
    std::vector<Access> found;
    for (const Access& read : lowered.op(op).reads)
      if (read.buffer == 0) found.push_back(read);
    return found;
  };
  ASSERT_EQ(in_table(0).size(), 1U);
  EXPECT_EQ(in_table(0), in_table(1));
  EXPECT_EQ(in_table(2).size(), 2U);
  EXPECT_EQ(in_table(3).size(), 1U) << "one lookup, and two loads from there";
}

// The expected orders are those that torch's pick_loop_order returns with CPython 3.11.
TEST(Lowering, OrdersLoopsAsPythonSortsWhereAccessesPreferThemInACycle) {
  // Two of three accesses have the smaller stride in loop 0 than in 1, in 1 than in 2, in 2 than
  // in 0.
  const std::vector<std::int64_t> cycle{1, 2, 3, 2, 3, 1, 3, 1, 2};
  EXPECT_THAT(Lowering::pick_order(cycle, {4, 4, 4}), ElementsAre(0, 1, 2));
  const std::vector<std::int64_t> four{3, 4, 1, 2, 4, 2, 3, 1, 2, 1, 3, 4};
  EXPECT_THAT(Lowering::pick_order(four, {2, 2, 2, 2}), ElementsAre(1, 2, 3, 0));
  const std::vector<std::int64_t> five{2, 4, 3, 5, 1, 2, 5, 4, 1, 3, 3, 1, 2, 4, 5};
  EXPECT_THAT(Lowering::pick_order(five, {2, 2, 2, 2, 2}), ElementsAre(0, 2, 1, 3, 4));
}

TEST(Lowering, KnowsTheReadersOfABuffer) {
  const Lowered lowered(R"(
    x: f32[8,16] = input
    w: f32[16,4] = parameter
    e: f32[8,16] = aten.exp(x)
    y: f32[8,4] = aten.mm(e, w)
    return [y]
  )");
  const Buffer& first = lowered.ir().buffers[2];
  EXPECT_EQ(first.name, "buf0");
  ASSERT_EQ(first.users.size(), 1U);
  EXPECT_EQ(first.users[0].op, 1);
  EXPECT_EQ(lowered.ir().buffers[3].users.back().op, -1) << "the output of the graph";
}

// The calls of a half that Inductor partitioned: its joint passes have replaced the random ones.
TEST(Lowering, DrawsRandomNumbersThatInductorPrepared) {
  const Lowered lowered(R"(
    x: f32[64,32] = input
    seeds: i64[2] = prims.inductor_seeds(2, 'cuda')
    seed: i64[] = prims.inductor_lookup_seed(seeds, 1)
    drawn: f32[64,32] = prims.inductor_random([64, 32], seed, 'rand')
    y: f32[64,32] = aten.mul.Tensor(drawn, x)
    return [y]
  )");
  ASSERT_THAT(lowered.classes(), ElementsAre("RandomSeeds", "Pointwise", "Pointwise"));
  EXPECT_THAT(lowered.nodes(1), ElementsAre("drawn", "seed"));
  EXPECT_THAT(lowered.reads(1), ElementsAre("buf0"));
}

// A forward saves the seed, and the backward draws the same numbers again.
TEST(Lowering, DrawsRandomNumbersFromASavedSeed) {
  const Lowered lowered(R"(
    kind backward
    seed: i64[] = saved
    g: f32[64,32] = tangent
    drawn: f32[64,32] = prims.inductor_random([64, 32], seed, 'rand')
    y: f32[64,32] = aten.mul.Tensor(drawn, g)
    return [y]
  )");
  ASSERT_THAT(lowered.classes(), ElementsAre("Pointwise", "Pointwise"));
  EXPECT_THAT(lowered.reads(0), ElementsAre("seed"));
}

// The gradient of an embedding in a graph that Inductor has decomposed.
TEST(Lowering, AddsMaskedValuesInLoops) {
  const Lowered lowered(R"(
    g: f32[64,8] = tangent
    index: i64[64] = input
    mask: b8[64,1] = input
    zeros: f32[100,8] = aten.full([100, 8], 0)
    dw: f32[100,8] = aten._unsafe_masked_index_put_accumulate(zeros, mask, [index], g)
    return [dw]
  )");
  EXPECT_THAT(lowered.classes(), ElementsAre("Pointwise", "Scatter"));
}

// The parts of a softmax that was decomposed before the graph was captured. torch attributes them
// to the exponential.
TEST(Lowering, JoinsTheMaximumAndTheSumOfASoftmax) {
  const std::string text = R"(
    x: f32[16384,1024] = input
    top: f32[16384,1] = aten.amax(x, [-1], True)
    shifted: f32[16384,1024] = aten.sub.Tensor(x, top)
    power: f32[16384,1024] = aten.exp(shifted)
    sum: f32[16384,1] = aten.sum.dim_IntList(power, [-1], True)
    log: f32[16384,1] = aten.log(sum)
    y: f32[16384,1024] = aten.sub.Tensor(shifted, log)
    return [y])";
  const Lowered decomposed(text), old(text, {2, 11}), whole(R"(
    x: f32[16384,1024] = input
    y: f32[16384,1024] = aten._log_softmax(x, -1, False)
    return [y]
  )");
  EXPECT_EQ(decomposed.classes(), whole.classes());
  const std::string reduction = "MultiOutputReduction:online_softmax_reduce";
  ASSERT_THAT(decomposed.classes(), ElementsAre(reduction, reduction, "Pointwise"));
  EXPECT_THAT(decomposed.nodes(0), ElementsAre("power"));
  EXPECT_THAT(decomposed.nodes(2), ElementsAre("log", "power", "y"));
  EXPECT_EQ(old.classes(), decomposed.classes());
  EXPECT_THAT(old.nodes(2), ElementsAre("log", "y"));
}

// Sums along another dimension than that of the maximum, and on the CPU, stay as they are.
TEST(Lowering, KeepsAMaximumAndASumThatAreNoSoftmax) {
  const std::string rest = R"(
    x: f32[64,64] = input
    top: f32[64,1] = aten.amax(x, [1], True)
    shifted: f32[64,64] = aten.sub.Tensor(x, top)
    power: f32[64,64] = aten.exp(shifted)
    sum: f32[)";
  const Lowered across(rest + "1,64] = aten.sum.dim_IntList(power, [0], True)\nreturn [sum]"),
      on_cpu("device cpu\n" + rest +
             "64,1] = aten.sum.dim_IntList(power, [1], True)\nreturn [sum]");
  for (const Lowered* each : {&across, &on_cpu}) EXPECT_EQ(each->classes()[0], "Reduction:max");
}

// Only an exponent that is an integer makes a power a call that changes nothing. The gradient of a
// square has the exponent 1.0.
TEST(Lowering, KeepsAPowerOfOnePointZero) {
  const auto nodes = [](const std::string& exponent) {
    return Lowered("x: f32[64] = input\np: f32[64] = aten.pow.Tensor_Scalar(x, " + exponent +
                   ")\ny: f32[64] = aten.exp(p)\nreturn [y]")
        .nodes(0);
  };
  EXPECT_THAT(nodes("1"), ElementsAre("y"));
  EXPECT_THAT(nodes("1.0"), ElementsAre("p", "y"));
}

TEST(Lowering, JoinsTheSecondOfTwoProductsToTheirSum) {
  const Lowered lowered(R"(
    a: bf16[64,32] = input
    b: bf16[32,16] = input
    first: bf16[64,16] = aten.mm(a, b)
    second: bf16[64,16] = aten.mm(a, b)
    sum: bf16[64,16] = aten.add.Tensor(first, second)
    return [sum]
  )");
  ASSERT_THAT(lowered.classes(), ElementsAre("ExternKernelOut", "ExternKernelOut"));
  EXPECT_THAT(lowered.nodes(0), ElementsAre("first"));
  EXPECT_THAT(lowered.nodes(1), ElementsAre("sum"));
  EXPECT_FALSE(lowered.op(0).product);
  EXPECT_TRUE(lowered.op(1).product);
}

// Values that a convolution is computed from are dense, or else they would be copied.
TEST(Lowering, PadsNoStridesForAConvolution) {
  const auto stride_of_saved = [](const std::string& reader) {
    const Lowered lowered(R"(
      x: f32[4,49,144] = input
      w: f32[144,144,1] = parameter
      saved: f32[4,49,144] = aten.exp(x)
      turned: f32[4,144,49] = aten.permute(saved, [0, 2, 1])
      y: f32[4,144,49] = )" +
                          reader + "\nreturn [y, saved]\n");
    for (std::size_t i = 0; i < lowered.ir().ops.size(); ++i)
      if (lowered.nodes(i) == std::vector<std::string>{"saved"})
        return lowered.ir().buffers[static_cast<std::size_t>(lowered.op(i).outputs[0])].stride;
    return Sizes();
  };
  EXPECT_THAT(stride_of_saved("aten.sin(turned)"), ElementsAre(7072, 144, 1));
  EXPECT_THAT(stride_of_saved("aten.convolution(turned, w, None, [1], [0], [1], False, [0], 1)"),
              ElementsAre(7056, 144, 1));
}

// The number of its operations decides how often a value is computed, and torch compares the
// texts of constants (OpCounterCSE).
TEST(Lowering, CountsWholeAndRealConstantsApart) {
  const auto count = [](const std::string& factor) {
    return Lowered(
               "x: f32[64] = input\na: f32[64] = aten.add.Tensor(x, 3)\n"
               "y: f32[64] = aten.mul.Tensor(a, " +
               factor + ")\nreturn [y]\n")
        .op(0)
        .body_ops;
  };
  EXPECT_EQ(count("3"), 4);
  EXPECT_EQ(count("3.0"), 5);
}

// A sum of all elements goes along the dimension that is dense in memory. The layout of the value
// that is summed is chosen first, by the order in which that value reads others.
TEST(Lowering, SumsEverythingInTheOrderInWhichItIsRead) {
  const Lowered lowered(R"(
    x: f32[32,1024] = input
    turned: f32[1024,32] = aten.permute(x, [1, 0])
    power: f32[1024,32] = aten.exp(turned)
    sum: f32[] = aten.sum(power)
    return [sum]
  )");
  ASSERT_THAT(lowered.nodes(0), ElementsAre("power", "turned"));
  const BufferId power = lowered.op(0).outputs[0];
  EXPECT_THAT(lowered.ir().buffers[static_cast<std::size_t>(power)].stride, ElementsAre(1, 1024));
}

// Equal loads count once, even if one was made before the strides of the buffer were decided, here
// by the second sum. A value with five loads that is used twice would become a buffer.
TEST(Lowering, LoadsBeforeAndAfterStridesAreDecidedAreEqual) {
  const Lowered lowered(R"(
    x: f32[64,96,16] = input
    a: f32[64,96] = input
    b: f32[64,96] = input
    c: f32[64,96] = input
    first: f32[64,96] = aten.sum.dim_IntList(x, [2])
    scaled: f32[64,96] = aten.mul.Tensor(first, a)
    second: f32[64] = aten.sum.dim_IntList(scaled, [1])
    negative: f32[64,96] = aten.neg(first)
    other: f32[64,96] = aten.mul.Tensor(negative, b)
    both: f32[64,96] = aten.add.Tensor(scaled, other)
    twice: f32[64,96] = aten.mul.Tensor(both, c)
    power: f32[64,96] = aten.exp(twice)
    wave: f32[64,96] = aten.sin(twice)
    return [second, power, wave]
  )");
  ASSERT_THAT(lowered.classes(),
              ElementsAre("Reduction:sum", "Reduction:sum", "Pointwise", "Pointwise"));
  EXPECT_THAT(lowered.reads(2), testing::UnorderedElementsAre("buf0", "a", "b", "c"));
}

}  // namespace
}  // namespace jointer::kernels
