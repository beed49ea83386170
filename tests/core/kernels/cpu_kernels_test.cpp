// Kernels on the CPU, where Inductor's C++ backend decides what fuses.
// tests/differential/test_kernel_families.py compares whole programs with Inductor.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/graph/literal.h"
#include "core/kernels/kernels.h"
#include "core/kernels/lowering.h"

namespace jointer::kernels {
namespace {

using testing::ElementsAre;

struct Predicted {
  Ir ir;
  Kernels kernels;

  explicit Predicted(const std::string& text)
      : ir(lower(parse_literal("device cpu\n" + text).value(), kNewestTorch)),
        kernels(schedule(ir)) {}

  [[nodiscard]] std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> result;
    for (const Kernel& kernel : kernels.kernels) result.push_back(kernel.ops.size());
    return result;
  }
  [[nodiscard]] std::int32_t refusals(Refusal refusal) const {
    return kernels.refusals[static_cast<std::size_t>(refusal)];
  }
};

TEST(CpuKernels, MergeLoopsThatFollowEachOther) {
  const Predicted one(R"(
    x: f32[8,16] = input
    e: f32[8,16] = aten.exp(x)
    return [e]
  )");
  EXPECT_THAT(one.ir.ops[0].loops, ElementsAre(128));
  const Predicted with_bias(R"(
    x: f32[8,16] = input
    b: f32[16] = input
    e: f32[8,16] = aten.add.Tensor(x, b)
    return [e]
  )");
  EXPECT_THAT(with_bias.ir.ops[0].loops, ElementsAre(8, 16));
  // Each access has its own merged loops.
  EXPECT_THAT(with_bias.ir.ops[0].writes[0].sizes, ElementsAre(128));
}

TEST(CpuKernels, OpsOfOneShapeGetOneNest) {
  const Predicted both(R"(
    x: f32[8,16] = input
    b: f32[16] = input
    e: f32[8,16] = aten.exp(x)
    a: f32[8,16] = aten.add.Tensor(x, b)
    return [e, a]
  )");
  EXPECT_THAT(both.sizes(), ElementsAre(2U));
}

TEST(CpuKernels, OpsOfOneSizeAndOtherShapesStayApart) {
  const Predicted apart(R"(
    x: f32[8,16] = input
    b: f32[4] = input
    e: f32[8,16] = aten.exp(x)
    v: f32[32,4] = aten.view(e, [32, 4])
    a: f32[32,4] = aten.add.Tensor(v, b)
    return [e, a]
  )");
  EXPECT_EQ(apart.kernels.kernels.size(), 2U);
  EXPECT_GT(apart.refusals(Refusal::loops_differ), 0);
}

TEST(CpuKernels, ReductionAndItsReaderShareTheOuterLoop) {
  const Predicted norm(R"(
    x: f32[8,16] = input
    s: f32[8,1] = aten.sum.dim_IntList(x, [1], True)
    d: f32[8,16] = aten.div.Tensor(x, s)
    return [d]
  )");
  EXPECT_THAT(norm.sizes(), ElementsAre(2U));
  EXPECT_EQ(norm.kernels.kernels[0].kind, Kernel::Kind::reduction);
}

TEST(CpuKernels, SumsOfRowsAndColumnsStayApart) {
  const Predicted sums(R"(
    x: f32[8,16] = input
    r: f32[8] = aten.sum.dim_IntList(x, [1])
    c: f32[16] = aten.sum.dim_IntList(x, [0])
    return [r, c]
  )");
  EXPECT_EQ(sums.kernels.kernels.size(), 2U);
}

TEST(CpuKernels, AtMostSixteenOpsRunSideBySide) {
  std::string text = "x: f32[8,16] = input\n", results;
  for (int i = 0; i < 17; ++i) {
    text += "e" + std::to_string(i) + ": f32[8,16] = aten.add.Tensor(x, " + std::to_string(i + 1) +
            ")\n";
    results += (i == 0 ? "e" : ", e") + std::to_string(i);
  }
  const Predicted many(text + "return [" + results + "]\n");
  EXPECT_EQ(many.kernels.kernels.size(), 2U);
  EXPECT_GT(many.refusals(Refusal::too_large_on_cpu), 0);
}

TEST(CpuKernels, ASumOfAFewElementsToOneKeepsItsLoop) {
  const Predicted sum(R"(
    x: f32[4] = input
    s: f32[] = aten.sum(x)
    return [s]
  )");
  EXPECT_EQ(sum.ir.ops[0].kind, Op::Kind::reduction);
}

TEST(CpuKernels, ARowTimesAColumnIsASum) {
  const Predicted product_of_both(R"(
    a: f32[1,64] = input
    b: f32[64,1] = input
    m: f32[1,1] = aten.mm(a, b)
    return [m]
  )");
  EXPECT_EQ(product_of_both.ir.ops[0].kind, Op::Kind::reduction);
}

}  // namespace
}  // namespace jointer::kernels
