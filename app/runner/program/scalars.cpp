#include "app/runner/program/scalars.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "core/base/checked.h"
#include "core/base/name_table.h"

namespace jointer::runner {
namespace {

using c10::IValue;
using torch::jit::Stack;

bool is_whole(const IValue& value) {
  return value.isInt() || value.isBool();
}
std::int64_t whole(const IValue& value) {
  return value.isBool() ? static_cast<std::int64_t>(value.toBool()) : value.toInt();
}
double real(const IValue& value) {
  return value.isDouble() ? value.toDouble() : static_cast<double>(whole(value));
}
bool truth(const IValue& value) {
  return value.isDouble() ? value.toDouble() != 0 : whole(value) != 0;
}

std::int64_t fits(std::optional<std::int64_t> result) {
  TORCH_CHECK(result.has_value(), "the number does not fit in 64 bits");
  return *result;
}

// Division that rounds toward minus infinity, as in Python.
std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  TORCH_CHECK(b != 0, "division by zero");
  TORCH_CHECK(b != -1 || a != INT64_MIN, "the number does not fit in 64 bits");
  const std::int64_t quotient = a / b;
  return quotient - static_cast<std::int64_t>(a % b != 0 && (a < 0) != (b < 0));
}

// Division of floats that rounds toward minus infinity. The quotient is exact before it is rounded:
// 1.0 // 0.1 is 9, although 1.0 / 0.1 is 10. Source: CPython's Objects/floatobject.c
// (float_divmod).
struct RealQuotient {
  double quotient = 0, remainder = 0;
};
RealQuotient floor_divide(double a, double b) {
  TORCH_CHECK(b != 0, "division by zero");
  double remainder = std::fmod(a, b);
  double quotient = (a - remainder) / b;
  if (remainder == 0) {
    remainder = std::copysign(0.0, b);
  } else if ((b < 0) != (remainder < 0)) {
    remainder += b;
    quotient -= 1;
  }
  if (quotient == 0) return {std::copysign(0.0, a / b), remainder};
  const double floor = std::floor(quotient);
  return {quotient - floor > 0.5 ? floor + 1 : floor, remainder};
}

template <class Whole, class Real>
void binary(Stack& stack, Whole on_whole, Real on_real) {
  const IValue b = std::move(stack.back());
  stack.pop_back();
  IValue& a = stack.back();
  a = is_whole(a) && is_whole(b) ? IValue(on_whole(whole(a), whole(b)))
                                 : IValue(on_real(real(a), real(b)));
}

template <class Holds>
void compare(Stack& stack) {
  binary(stack, Holds(), Holds());
}

// The elements of the list or tuple that is the only argument.
std::vector<IValue> elements(Stack& stack) {
  const IValue list = std::move(stack.back());
  stack.pop_back();
  if (list.isTuple()) return list.toTupleRef().elements().vec();
  std::vector<IValue> values;
  for (const IValue& value : list.toListRef()) values.push_back(value);
  return values;
}

void add(Stack& s) {
  binary(
      s, [](auto a, auto b) { return fits(checked_add(a, b)); }, std::plus<double>());
}
void subtract(Stack& s) {
  binary(
      s, [](auto a, auto b) { return fits(checked_sub(a, b)); }, std::minus<double>());
}
void multiply(Stack& s) {
  binary(
      s, [](auto a, auto b) { return fits(checked_mul(a, b)); }, std::multiplies<double>());
}
void divide_floor(Stack& s) {
  binary(
      s, [](std::int64_t a, std::int64_t b) { return floor_divide(a, b); },
      [](double a, double b) { return floor_divide(a, b).quotient; });
}
void divide_true(Stack& s) {
  const auto quotient = [](auto a, auto b) {
    TORCH_CHECK(b != 0, "division by zero");
    return static_cast<double>(a) / static_cast<double>(b);
  };
  binary(s, quotient, quotient);
}
void modulo(Stack& s) {
  binary(
      s, [](std::int64_t a, std::int64_t b) { return a - floor_divide(a, b) * b; },
      [](double a, double b) { return floor_divide(a, b).remainder; });
}
void power(Stack& s) {
  const IValue b = std::move(s.back());
  s.pop_back();
  IValue& a = s.back();
  if (!is_whole(a) || !is_whole(b) || whole(b) < 0) {
    a = IValue(std::pow(real(a), real(b)));
    return;
  }
  std::int64_t result = 1;
  for (std::int64_t left = whole(b), base = whole(a); left > 0; left >>= 1) {
    if ((left & 1) != 0) result = fits(checked_mul(result, base));
    if (left > 1) base = fits(checked_mul(base, base));
  }
  a = IValue(result);
}
void power_real(Stack& s) {
  const double exponent = real(s.back());
  s.pop_back();
  s.back() = IValue(std::pow(real(s.back()), exponent));
}
void negate(Stack& s) {
  s.back() =
      is_whole(s.back()) ? IValue(fits(checked_sub(0, whole(s.back())))) : IValue(-real(s.back()));
}
void absolute(Stack& s) {
  if (!is_whole(s.back()))
    s.back() = IValue(std::fabs(real(s.back())));
  else if (const std::int64_t number = whole(s.back()); number < 0)
    s.back() = IValue(fits(checked_sub(0, number)));
  else
    s.back() = IValue(number);
}
template <class Op>
void bitwise(Stack& s, Op op) {
  const IValue b = std::move(s.back());
  s.pop_back();
  IValue& a = s.back();
  const std::int64_t result = op(whole(a), whole(b));
  a = a.isBool() && b.isBool() ? IValue(result != 0) : IValue(result);
}
template <class Op>
void bits(Stack& s) {
  bitwise(s, Op());
}
void logical_not(Stack& s) {
  s.back() = IValue(!truth(s.back()));
}
void itself(Stack& s) {
  if (s.back().isBool()) s.back() = IValue(whole(s.back()));
}
void truth_of(Stack& s) {
  s.back() = IValue(truth(s.back()));
}
void invert(Stack& s) {
  s.back() = IValue(~whole(s.back()));
}
void shift_left(Stack& s) {
  bitwise(s, [](std::int64_t a, std::int64_t b) {
    TORCH_CHECK(b >= 0 && b < 63, "cannot shift an integer to the left by ", b);
    return fits(checked_mul(a, std::int64_t{1} << b));
  });
}
void shift_right(Stack& s) {
  bitwise(s, [](std::int64_t a, std::int64_t b) {
    TORCH_CHECK(b >= 0, "cannot shift an integer to the right by ", b);
    return a >> std::min<std::int64_t>(b, 63);
  });
}
template <double (*function)(double)>
void of_real(Stack& s) {
  s.back() = IValue(function(real(s.back())));
}
void to_real(Stack& s) {
  s.back() = IValue(real(s.back()));
}
template <double (*round)(double)>
void to_whole(Stack& s) {
  if (!is_whole(s.back())) s.back() = IValue(static_cast<std::int64_t>(round(real(s.back()))));
}
void minimum(Stack& s) {
  binary(
      s, [](auto a, auto b) { return std::min(a, b); },
      [](double a, double b) { return std::min(a, b); });
}
void maximum(Stack& s) {
  binary(
      s, [](auto a, auto b) { return std::max(a, b); },
      [](double a, double b) { return std::max(a, b); });
}
void choose(Stack& s) {  // condition, then, else
  const IValue if_false = std::move(s.back());
  s.pop_back();
  const IValue if_true = std::move(s.back());
  s.pop_back();
  s.back() = truth(s.back()) ? if_true : if_false;
}
void sum(Stack& s) {
  IValue total(std::int64_t{0});
  Stack pair;
  for (const IValue& value : elements(s)) {
    pair = {total, value};
    add(pair);
    total = pair.back();
  }
  s.push_back(std::move(total));
}

constexpr NameTable<Builtin, 55> kBuiltins{{
    {"_operator.abs", absolute},
    {"_operator.add", add},
    {"_operator.and_", bits<std::bit_and<>>},
    {"_operator.eq", compare<std::equal_to<>>},
    {"_operator.floordiv", divide_floor},
    {"_operator.ge", compare<std::greater_equal<>>},
    {"_operator.gt", compare<std::greater<>>},
    {"_operator.index", itself},
    {"_operator.invert", invert},
    {"_operator.le", compare<std::less_equal<>>},
    {"_operator.lshift", shift_left},
    {"_operator.lt", compare<std::less<>>},
    {"_operator.mod", modulo},
    {"_operator.mul", multiply},
    {"_operator.ne", compare<std::not_equal_to<>>},
    {"_operator.neg", negate},
    {"_operator.not_", logical_not},
    {"_operator.or_", bits<std::bit_or<>>},
    {"_operator.pos", itself},
    {"_operator.pow", power},
    {"_operator.rshift", shift_right},
    {"_operator.sub", subtract},
    {"_operator.truediv", divide_true},
    {"_operator.truth", truth_of},
    {"_operator.xor", bits<std::bit_xor<>>},
    {"math.cos", of_real<std::cos>},
    {"math.cosh", of_real<std::cosh>},
    {"math.exp", of_real<std::exp>},
    {"math.fabs", of_real<std::fabs>},
    {"math.log", of_real<std::log>},
    {"math.log2", of_real<std::log2>},
    {"math.sin", of_real<std::sin>},
    {"math.sinh", of_real<std::sinh>},
    {"math.sqrt", of_real<std::sqrt>},
    {"math.tan", of_real<std::tan>},
    {"math.tanh", of_real<std::tanh>},
    {"math.ceil", to_whole<std::ceil>},
    {"math.floor", to_whole<std::floor>},
    {"math.trunc", to_whole<std::trunc>},
    {"math.pow", power_real},
    {"torch.sym_sum", sum},
    {"torch.sym_min", minimum},
    {"torch.sym_max", maximum},
    {"torch.sym_not", logical_not},
    {"torch.sym_float", to_real},
    {"torch.sym_int", to_whole<std::trunc>},
    {"torch.sym_ite", choose},
    {"torch._sym_sqrt", of_real<std::sqrt>},
    {"torch._sym_cos", of_real<std::cos>},
    {"torch._sym_cosh", of_real<std::cosh>},
    {"torch._sym_sin", of_real<std::sin>},
    {"torch._sym_sinh", of_real<std::sinh>},
    {"torch._sym_tan", of_real<std::tan>},
    {"torch._sym_tanh", of_real<std::tanh>},
    {"torch._sym_log2", of_real<std::log2>},
}};

}  // namespace

Builtin find_scalar_builtin(std::string_view target) {
  return value_in(kBuiltins, target).value_or(nullptr);
}

}  // namespace jointer::runner
