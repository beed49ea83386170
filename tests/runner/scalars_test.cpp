#include "app/runner/program/scalars.h"

#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace jointer::runner {
namespace {

using c10::IValue;
using torch::jit::Stack;

IValue call(std::string_view target, Stack arguments) {
  const Builtin builtin = find_scalar_builtin(target);
  if (builtin == nullptr) throw std::invalid_argument(std::string(target));
  builtin(arguments);
  EXPECT_EQ(arguments.size(), 1U);
  return arguments.back();
}

std::int64_t whole(std::string_view target, std::int64_t a, std::int64_t b) {
  return call(target, {IValue(a), IValue(b)}).toInt();
}

TEST(Scalars, IntegersStayIntegers) {
  EXPECT_EQ(whole("_operator.add", 3, 4), 7);
  EXPECT_EQ(whole("_operator.sub", 3, 4), -1);
  EXPECT_EQ(whole("_operator.mul", 3, -4), -12);
  EXPECT_EQ(whole("_operator.pow", 2, 10), 1024);
  EXPECT_EQ(whole("torch.sym_max", 3, 9), 9);
}

TEST(Scalars, DivisionMatchesPython) {
  EXPECT_EQ(whole("_operator.floordiv", -7, 2), -4);
  EXPECT_EQ(whole("_operator.floordiv", 7, -2), -4);
  EXPECT_EQ(whole("_operator.mod", -7, 2), 1);
  EXPECT_EQ(whole("_operator.mod", 7, -2), -1);
  EXPECT_DOUBLE_EQ(call("_operator.truediv", {IValue(1), IValue(4)}).toDouble(), 0.25);
}

TEST(Scalars, DivisionOfFloatsMatchesPython) {
  const auto real = [](std::string_view target, double a, double b) {
    return call(target, {IValue(a), IValue(b)}).toDouble();
  };
  EXPECT_EQ(real("_operator.floordiv", 1.0, 0.1), 9.0);
  EXPECT_EQ(real("_operator.floordiv", -7.5, 2.0), -4.0);
  EXPECT_EQ(real("_operator.mod", -7.5, 2.0), 0.5);
  EXPECT_EQ(real("_operator.mod", 1.0, 0.1), 0.09999999999999995);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(real("_operator.mod", -1.0, kInfinity), kInfinity);
  EXPECT_EQ(real("_operator.floordiv", -1.0, kInfinity), -1.0);
}

RC_GTEST_PROP(Scalars, QuotientAndRemainderGiveTheNumber, ()) {
  const auto a = *rc::gen::inRange<std::int64_t>(-1'000'000, 1'000'000);
  const auto b = *rc::gen::suchThat(rc::gen::inRange<std::int64_t>(-1000, 1000),
                                    [](std::int64_t n) { return n != 0; });
  const std::int64_t quotient = whole("_operator.floordiv", a, b);
  const std::int64_t remainder = whole("_operator.mod", a, b);
  RC_ASSERT(quotient * b + remainder == a);
  RC_ASSERT(remainder == 0 || (remainder < 0) == (b < 0));
}

TEST(Scalars, ComparisonsAreBooleans) {
  EXPECT_TRUE(call("_operator.ge", {IValue(3), IValue(3)}).toBool());
  EXPECT_FALSE(call("_operator.lt", {IValue(3), IValue(3)}).toBool());
  EXPECT_TRUE(call("_operator.eq", {IValue(2.0), IValue(2)}).toBool());
  EXPECT_FALSE(call("torch.sym_not", {IValue(true)}).toBool());
  EXPECT_EQ(call("torch.sym_ite", {IValue(false), IValue(1), IValue(2)}).toInt(), 2);
}

TEST(Scalars, SumsOfAList) {
  const auto tuple = c10::ivalue::Tuple::create({IValue(1), IValue(2), IValue(39)});
  EXPECT_EQ(call("torch.sym_sum", {IValue(tuple)}).toInt(), 42);
}

TEST(Scalars, OverflowsAndDivisionByZeroAreErrors) {
  const std::int64_t max = std::numeric_limits<std::int64_t>::max();
  EXPECT_THROW(whole("_operator.add", max, 1), c10::Error);
  EXPECT_THROW(whole("_operator.mul", max, 2), c10::Error);
  EXPECT_THROW(whole("_operator.floordiv", 1, 0), c10::Error);
  EXPECT_THROW(call("_operator.floordiv", {IValue(1.0), IValue(0)}), c10::Error);
  EXPECT_THROW(call("_operator.mod", {IValue(1.0), IValue(0.0)}), c10::Error);
  EXPECT_THROW(whole("_operator.floordiv", std::numeric_limits<std::int64_t>::min(), -1),
               c10::Error);
}

TEST(Scalars, OtherOperatorsAreNotScalar) {
  EXPECT_EQ(find_scalar_builtin("os.system"), nullptr);
  EXPECT_EQ(find_scalar_builtin("aten.add.Tensor"), nullptr);
}

}  // namespace
}  // namespace jointer::runner
