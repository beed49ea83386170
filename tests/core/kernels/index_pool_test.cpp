// Positions as expressions over loops, and their simplification.

#include "core/kernels/index_pool.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace jointer::kernels {
namespace {

TEST(IndexPool, InternsSums) {
  IndexPool pool;
  const ExpressionIndex a = pool.loop(0, 8), b = pool.loop(1, 4);
  EXPECT_EQ(pool.add(a, b), pool.add(b, a));
  EXPECT_EQ(pool.add(a, pool.multiply(a, -1)), IndexPool::kZero);
  EXPECT_EQ(pool.loop(2, 1), IndexPool::kZero) << "a loop of one iteration is always 0";
}

TEST(IndexPool, DividesWhatTheDivisorDivides) {
  IndexPool pool;
  const ExpressionIndex a = pool.loop(0, 8), b = pool.loop(1, 4);
  const ExpressionIndex row_major = pool.add(pool.multiply(a, 4), b);
  EXPECT_EQ(pool.divide(row_major, 4), a);
  EXPECT_EQ(pool.modular(row_major, 1, 4), b);
}

TEST(IndexPool, DropsTermsThatAreTooSmall) {
  IndexPool pool;
  const ExpressionIndex a = pool.loop(0, 8), b = pool.loop(1, 2);
  // (2 a + b) / 4 is a / 2 for b below 2.
  EXPECT_EQ(pool.divide(pool.add(pool.multiply(a, 2), b), 4), pool.divide(a, 2));
}

TEST(IndexPool, JoinsQuotientAndRemainder) {
  IndexPool pool;
  const ExpressionIndex a = pool.loop(0, 12);
  const ExpressionIndex parts =
      pool.add(pool.multiply(pool.divide(a, 4), 4), pool.modular(a, 1, 4));
  EXPECT_EQ(parts, a);
  const ExpressionIndex three = pool.add(
      pool.add(pool.multiply(pool.divide(a, 6), 6), pool.multiply(pool.modular(a, 2, 3), 2)),
      pool.modular(a, 1, 2));
  EXPECT_EQ(three, a);
}

TEST(IndexPool, RemembersNothingWrong) {
  // More expressions and results than the tables of recent results hold.
  constexpr int kCount = 20'000;
  IndexPool pool;
  const ExpressionIndex a = pool.loop(0, 1 << 20);
  std::vector<ExpressionIndex> sums, quotients, substituted;
  const std::array with{pool.loop(1, 1 << 20)};
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < kCount; ++i) {
      const ExpressionIndex sum = pool.add(pool.multiply(a, i + 1), pool.constant(i));
      const ExpressionIndex quotient = pool.divide(pool.add(a, pool.constant(i)), i + 2);
      const ExpressionIndex other = pool.substitute(sum, with);
      if (round == 0) {
        sums.push_back(sum);
        quotients.push_back(quotient);
        substituted.push_back(other);
        continue;
      }
      const auto at = static_cast<std::size_t>(i);
      ASSERT_EQ(sum, sums[at]);
      ASSERT_EQ(quotient, quotients[at]);
      ASSERT_EQ(other, substituted[at]);
      ASSERT_EQ(pool.stride(other, 1), i + 1);
      ASSERT_EQ(pool.stride(other, 0), 0);
      ASSERT_EQ(pool.stride(quotient, -1), i / (i + 2));
    }
}

TEST(IndexPool, KnowsStrides) {
  IndexPool pool;
  const ExpressionIndex a = pool.loop(0, 8), b = pool.loop(1, 4);
  const ExpressionIndex position = pool.add(pool.add(pool.multiply(a, 16), b), pool.constant(3));
  EXPECT_EQ(pool.stride(position, 0), 16);
  EXPECT_EQ(pool.stride(position, 1), 1);
  EXPECT_EQ(pool.stride(position, 2), 0);
  EXPECT_EQ(pool.stride(position, -1), 3);
}

TEST(IndexPool, SubstitutesLoops) {
  IndexPool pool;
  const ExpressionIndex a = pool.loop(0, 12);
  const ExpressionIndex b = pool.loop(0, 3), c = pool.loop(1, 4);
  const std::array with{pool.add(pool.multiply(b, 4), c)};
  EXPECT_EQ(pool.substitute(pool.divide(a, 4), with), b);
  EXPECT_EQ(pool.substitute(pool.modular(a, 1, 4), with), c);
}

TEST(IndexPool, TellsLoadedValuesApart) {
  IndexPool pool;
  const ExpressionIndex at = pool.loop(0, 8);
  const ExpressionIndex x = pool.loaded(at, 1, 100), y = pool.loaded(at, 2, 100);
  EXPECT_NE(x, y);
  EXPECT_EQ(x, pool.loaded(at, 1, 100));
  EXPECT_TRUE(pool.has_loaded(pool.multiply(x, 4)));
  EXPECT_EQ(pool.to_index(x).terms.front().inner.front().loop, -1);
}

TEST(IndexPool, GivesEqualIndicesForEqualPositions) {
  IndexPool pool;
  const ExpressionIndex a = pool.loop(0, 8), b = pool.loop(1, 6);
  const ExpressionIndex position = pool.add(pool.multiply(a, 6), pool.divide(b, 4));
  const Index index = pool.to_index(position);
  ASSERT_EQ(index.terms.size(), 2);
  EXPECT_EQ(index, pool.to_index(pool.add(pool.divide(b, 4), pool.multiply(a, 6))));
}

}  // namespace
}  // namespace jointer::kernels
