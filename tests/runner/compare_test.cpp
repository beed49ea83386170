#include "app/runner/compare.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace jointer::runner {
namespace {

RankVerified compare(const at::Tensor& a, const at::Tensor& b, double bound = 0) {
  const std::vector<at::Tensor> outputs{at::ones({2}), a}, expected{at::ones({2}), b};
  const std::vector<std::string> names{"first", "second"};
  return compare_outputs("expected", outputs, expected, names, bound);
}

TEST(Compare, AcceptsTheSameBits) {
  const at::Tensor x = at::tensor({1.0F, -0.0F, NAN});
  const RankVerified answer = compare(x, x.clone());
  EXPECT_TRUE(answer.bitwise);
  EXPECT_TRUE(answer.equal);
  EXPECT_EQ(answer.compared, 2);
  EXPECT_TRUE(answer.output.empty());
}

TEST(Compare, DistinguishesSignsOfZero) {
  const RankVerified answer = compare(at::tensor({0.0F}), at::tensor({-0.0F}));
  EXPECT_FALSE(answer.bitwise);
  EXPECT_TRUE(answer.equal);  // equal numbers with different bits
  EXPECT_EQ(answer.max_abs_diff, 0);
}

TEST(Compare, ReportsPositionAndDifference) {
  const RankVerified answer =
      compare(at::tensor({1.0F, 2.0F, 8.0F}), at::tensor({1.0F, 2.5F, 8.0F}), 0.01);
  EXPECT_FALSE(answer.equal);
  EXPECT_EQ(answer.output, "second");
  EXPECT_EQ(answer.element, 1);
  EXPECT_DOUBLE_EQ(answer.max_abs_diff, 0.5);
}

TEST(Compare, TheBoundIsRelativeToTheMaximum) {
  EXPECT_TRUE(compare(at::tensor({100.0F, 1.5F}), at::tensor({100.0F, 1.0F}), 0.01).equal);
  EXPECT_FALSE(compare(at::tensor({10.0F, 1.5F}), at::tensor({10.0F, 1.0F}), 0.01).equal);
}

// A gradient that is all wrong matters more than the rounding of a large sum.
TEST(Compare, NamesTheOutputWithTheLargestRelativeDifference) {
  const std::vector<at::Tensor> outputs{at::tensor({1001.0F}), at::tensor({0.5F})};
  const std::vector<at::Tensor> expected{at::tensor({1000.0F}), at::tensor({1.0F})};
  const std::vector<std::string> names{"sum", "gradient"};
  const RankVerified answer = compare_outputs("expected", outputs, expected, names, 0);
  EXPECT_EQ(answer.output, "gradient");
  EXPECT_DOUBLE_EQ(answer.max_abs_diff, 0.5);
  EXPECT_DOUBLE_EQ(answer.max_rel_diff, 0.5);
}

TEST(Compare, NansDiffer) {
  EXPECT_FALSE(compare(at::tensor({NAN}), at::tensor({1.0F}), 1).equal);
  EXPECT_TRUE(std::isinf(compare(at::tensor({NAN}), at::tensor({1.0F}), 1).max_abs_diff));
}

TEST(Compare, ShapesTypesAndMissingTensors) {
  EXPECT_FALSE(compare(at::ones({2, 2}), at::ones({4}), 1).equal);
  EXPECT_FALSE(compare(at::ones({2}, at::kLong), at::ones({2}), 1).equal);
  EXPECT_FALSE(compare(at::Tensor(), at::ones({2}), 1).equal);
  EXPECT_TRUE(compare(at::Tensor(), at::Tensor()).bitwise);
}

TEST(Compare, ComplexNumbersAndTransposes) {
  const at::Tensor z = at::polar(at::ones({3, 2}), at::rand({3, 2}));
  EXPECT_TRUE(compare(z, z.clone()).bitwise);
  EXPECT_TRUE(compare(z.conj(), z.conj().resolve_conj()).bitwise);
  EXPECT_TRUE(compare(z.t(), z.t().contiguous()).bitwise);
}

TEST(Compare, TheSpreadIsTheLargestRelativeDifference) {
  const std::vector<at::Tensor> first{at::tensor({4.0F, 1.0F}), at::Tensor(), at::ones({2})};
  const std::vector<at::Tensor> second{at::tensor({4.0F, 2.0F}), at::Tensor(), at::ones({2})};
  EXPECT_DOUBLE_EQ(spread(first, second), 0.25);
  EXPECT_EQ(spread(first, first), 0);
}

}  // namespace
}  // namespace jointer::runner
