#include "core/graph/expression.h"

#include <gtest/gtest.h>

#include <map>

namespace jointer {
namespace {

Result<std::int64_t> value(std::string_view text) {
  const std::map<std::string, std::int64_t, std::less<>> symbols{{"u0", 7}, {"u1", 5}, {"s0", 64}};
  auto expression = Expression::parse(text);
  if (!expression) return tl::unexpected(expression.error());
  return expression->evaluate([&](std::string_view name) -> std::optional<std::int64_t> {
    const auto it = symbols.find(name);
    return it == symbols.end() ? std::nullopt : std::optional(it->second);
  });
}

struct Case {
  const char* text;
  std::int64_t expected;
};

class ExpressionValue : public testing::TestWithParam<Case> {};

TEST_P(ExpressionValue, EqualsPython) {
  const auto result = value(GetParam().text);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(*result, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Printed, ExpressionValue,
    testing::Values(Case{"42", 42}, Case{"u0", 7}, Case{"512*u0 + 512*u1", 6144},
                    Case{"8*(((u0 + u1 + 39)//8))", 48}, Case{"-u0 // 2", -4},
                    Case{"Mod(u0, 4)", 3}, Case{"-7 % 4", 1}, Case{"PythonMod(-7, 4)", 1},
                    Case{"2**3**2", 512}, Case{"-2**2", -4}, Case{"Max(1, u0, s0)", 64},
                    Case{"Min(u0, u1)", 5}, Case{"CeilDiv(u0, 2)", 4},
                    Case{"ModularIndexing(s0, 8, 3)", 2}, Case{"s0/2", 32},
                    Case{"TruncToInt(u0/2)", 3}, Case{"CeilToInt(IntTrueDiv(u0, 2))", 4},
                    Case{"Eq(u0 + u1, 12)", 1}, Case{"u0 >= 8", 0}, Case{"u0 < 8 and u1 > 4", 1},
                    Case{"not Eq(u0, 7)", 0}, Case{"Or(u0 > 9, u1 > 9)", 0},
                    Case{"Max(9007199254740993, 9007199254740992)", 9007199254740993},
                    Case{"Identity(u0)", 7}, Case{"Abs(-u0)", 7}, Case{"ceiling(u0/2)", 4},
                    Case{"floor(u0/2)", 3}, Case{"TruncToInt(TruncToFloat(-u0/2))", -3},
                    Case{"FloorToInt(FloatPow(ToFloat(s0), 0.5))", 8},
                    Case{"2*TruncToInt(OpaqueUnaryFn_sqrt(ToFloat(u0)))", 4}, Case{"sqrt(s0)", 8},
                    Case{"LShift(u0, u1 - 2)", 56}, Case{"RShift(-u0, 1)", -4},
                    Case{"RShift(LShift(s0, 3), u1)", 16}));

TEST(Expression, RefusesOtherText) {
  for (const char* text :
       {"", "1 +", "(1", "1)", "f(1)", "Max()", "sqrt(4, 2)", "LShift(1)", "RShift(1, 2, 3)",
        "u0 u1", "99999999999999999999", "1..2", "u0[1]", "'a'"})
    EXPECT_FALSE(Expression::parse(text).has_value()) << text;
}

TEST(Expression, RefusesDeepNestingWithoutRunningOutOfStack) {
  EXPECT_FALSE(Expression::parse(std::string(10000, '(') + "1").has_value());
  EXPECT_FALSE(Expression::parse(std::string(10000, '-') + "1").has_value());
}

TEST(Expression, ReportsUndefinedArithmetic) {
  for (const char* text : {"9223372036854775807 + 1", "u0//0", "u0 % 0", "2**70", "u0/2",
                           "-9223372036854775807 - 2", "u9"})
    EXPECT_FALSE(value(text).has_value()) << text;
}

TEST(Expression, RecognizesASumOfSymbols) {
  const auto sum = Expression::parse("Eq(u0 + u1 + u2, 3072)")->as_sum_of_symbols();
  ASSERT_TRUE(sum.has_value());
  EXPECT_EQ(sum->total, 3072);
  EXPECT_EQ(sum->symbols.size(), 3U);
  EXPECT_FALSE(Expression::parse("Eq(2*u0 + u1, 3072)")->as_sum_of_symbols().has_value());
  EXPECT_FALSE(Expression::parse("u0 <= 3072")->as_sum_of_symbols().has_value());
}

}  // namespace
}  // namespace jointer
