#include "core/graph/expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <variant>

#include "core/base/characters.h"
#include "core/base/checked.h"
#include "core/base/utf8.h"
#include "core/graph/size_function.h"

namespace jointer {

namespace {

constexpr std::size_t kMaxLength = 65536;
constexpr int kMaxDepth = 200;

struct Function {
  std::string_view name;
  Expression::Op op;
  std::uint16_t min_arity, max_arity;
  bool returns_float = false;
};
constexpr std::uint16_t kAny = 1024;
// Functions that sympy and torch print in expressions. `power` of one argument is a square root.
// Shifts multiply and divide by 2 to the power of the second argument.
constexpr std::array<Function, 35> kFunctions{{
    {"Max", Expression::Op::maximum, 1, kAny},
    {"Min", Expression::Op::minimum, 1, kAny},
    {"Mod", Expression::Op::modulo, 2, 2},
    {"PythonMod", Expression::Op::modulo, 2, 2},
    {"FloorDiv", Expression::Op::floor_divide, 2, 2},
    {"CleanDiv", Expression::Op::floor_divide, 2, 2},
    {"CeilDiv", Expression::Op::ceil_divide, 2, 2},
    {"ModularIndexing", Expression::Op::modular_indexing, 3, 3},
    {"LShift", Expression::Op::multiply, 2, 2},
    {"RShift", Expression::Op::floor_divide, 2, 2},
    {"IntTrueDiv", Expression::Op::divide, 2, 2, true},
    {"FloatTrueDiv", Expression::Op::divide, 2, 2, true},
    {"PowByNatural", Expression::Op::power, 2, 2},
    {"Pow", Expression::Op::power, 2, 2},
    {"FloatPow", Expression::Op::power, 2, 2, true},
    {"OpaqueUnaryFn_sqrt", Expression::Op::power, 1, 1, true},
    {"sqrt", Expression::Op::power, 1, 1, true},
    {"Abs", Expression::Op::absolute, 1, 1},
    {"Eq", Expression::Op::equal, 2, 2},
    {"Ne", Expression::Op::not_equal, 2, 2},
    {"Ge", Expression::Op::greater_equal, 2, 2},
    {"Gt", Expression::Op::greater, 2, 2},
    {"Le", Expression::Op::less_equal, 2, 2},
    {"Lt", Expression::Op::less, 2, 2},
    {"ToFloat", Expression::Op::identity, 1, 1, true},
    {"Identity", Expression::Op::identity, 1, 1},
    {"TruncToInt", Expression::Op::truncate, 1, 1},
    {"CeilToInt", Expression::Op::ceiling, 1, 1},
    {"FloorToInt", Expression::Op::floor, 1, 1},
    {"TruncToFloat", Expression::Op::truncate, 1, 1, true},
    {"ceiling", Expression::Op::ceiling, 1, 1},
    {"floor", Expression::Op::floor, 1, 1},
    {"And", Expression::Op::logical_and, 1, kAny},
    {"Or", Expression::Op::logical_or, 1, kAny},
    {"Not", Expression::Op::logical_not, 1, 1},
}};

const Function* find_function(std::string_view name) {
  const auto* found =
      std::ranges::find_if(kFunctions, [&](const Function& f) { return f.name == name; });
  return found == kFunctions.end() ? nullptr : found;
}

}  // namespace

bool is_size_function(std::string_view name) {
  const Function* function = find_function(name);
  return function != nullptr && !function->returns_float;
}

// A recursive-descent parser with Python's precedence: or, and, not, comparison, sum, product,
// sign, power, atom. As sympy prints them, `|`, `&` and `~` are or, and and not. Comparisons do not
// chain.
class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : text_(text) {}

  Result<Expression> run() {
    if (text_.size() > kMaxLength)
      return input_error("an expression of {} characters is too long: at most {} can be read",
                         text_.size(), kMaxLength);
    disjunction(0);
    skip_space();
    if (!error_ && at_ != text_.size()) report("unexpected character");
    if (error_)
      return input_error("expression `{}`: {} at column {}", first_characters(text_, 80), error_,
                         at_ + 1);
    result_.text_ = text_;
    return std::move(result_);
  }

 private:
  using Op = Expression::Op;

  void report(const char* what) {
    if (!error_) error_ = what;
  }
  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(std::string_view token) {
    skip_space();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  // Matches only a whole word: `or` does not match the start of `order`.
  bool take_word(std::string_view word) {
    skip_space();
    const std::size_t end = at_ + word.size();
    if (text_.substr(at_, word.size()) != word) return false;
    if (end < text_.size() && is_name_character(text_[end])) return false;
    at_ = end;
    return true;
  }
  [[nodiscard]] char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  void emit(Op op, std::size_t arity) {
    result_.steps_.push_back({.op = op, .arity = static_cast<std::uint16_t>(arity)});
  }

  void disjunction(int depth) {
    if (depth > kMaxDepth) return report("nested too deeply");
    conjunction(depth + 1);
    while (!error_ && (take_word("or") || take("|"))) {
      conjunction(depth + 1);
      emit(Op::logical_or, 2);
    }
  }
  void conjunction(int depth) {
    negation(depth + 1);
    while (!error_ && (take_word("and") || take("&"))) {
      negation(depth + 1);
      emit(Op::logical_and, 2);
    }
  }
  void negation(int depth) {
    if (depth > kMaxDepth) return report("nested too deeply");
    if (take_word("not") || take("~")) {
      negation(depth + 1);
      emit(Op::logical_not, 1);
    } else {
      comparison(depth);
    }
  }
  void comparison(int depth) {
    static constexpr std::array<std::pair<std::string_view, Op>, 6> kOperators{{
        {"<=", Op::less_equal},
        {">=", Op::greater_equal},
        {"==", Op::equal},
        {"!=", Op::not_equal},
        {"<", Op::less},
        {">", Op::greater},
    }};
    sum(depth);
    for (const auto& [token, op] : kOperators) {
      if (error_ || !take(token)) continue;
      sum(depth);
      return emit(op, 2);
    }
  }
  void sum(int depth) {
    product(depth);
    while (!error_) {
      const bool adds = take("+");
      if (!adds && !take("-")) return;
      product(depth);
      emit(adds ? Op::add : Op::subtract, 2);
    }
  }
  void product(int depth) {
    static constexpr std::array<std::pair<std::string_view, Op>, 4> kOperators{
        {{"//", Op::floor_divide}, {"/", Op::divide}, {"%", Op::modulo}, {"*", Op::multiply}}};
    sign(depth);
    while (!error_) {
      if (peek() == '*' && text_.substr(at_, 2) == "**") return;
      const auto* const found =
          std::ranges::find_if(kOperators, [&](const auto& each) { return take(each.first); });
      if (found == kOperators.end()) return;
      sign(depth);
      emit(found->second, 2);
    }
  }
  void sign(int depth) {
    if (depth > kMaxDepth) return report("nested too deeply");
    if (take("-")) {
      sign(depth + 1);
      emit(Op::negate, 1);
    } else if (take("+")) {
      sign(depth + 1);
    } else {
      power(depth);
    }
  }
  void power(int depth) {
    atom(depth);
    if (!error_ && take("**")) {
      sign(depth + 1);
      emit(Op::power, 2);
    }
  }
  void atom(int depth) {
    const char c = peek();
    if (c == '(') {
      ++at_;
      disjunction(depth + 1);
      if (!error_ && !take(")")) report("missing `)`");
    } else if (is_digit(c) || c == '.') {
      number();
    } else if (is_name_start(c)) {
      name(depth);
    } else {
      report(c == '\0' ? "unexpected end" : "unexpected character");
    }
  }
  void number() {
    const char* const begin = text_.data() + at_;
    const char* const limit = text_.data() + text_.size();
    Expression::Step step;
    const auto [end, status] = std::from_chars(begin, limit, step.integer);
    const bool is_real = end < limit && (*end == '.' || *end == 'e' || *end == 'E');
    if (is_real || begin == end) {
      step.op = Op::real;
      const auto [real_end, real_status] = std::from_chars(begin, limit, step.real);
      if (real_status != std::errc{}) return report("not a number");
      at_ += static_cast<std::size_t>(real_end - begin);
    } else if (status != std::errc{}) {
      return report("number does not fit in 64 bits");
    } else {
      at_ += static_cast<std::size_t>(end - begin);
    }
    result_.steps_.push_back(step);
  }
  void name(int depth) {
    std::size_t end = at_;
    while (end < text_.size() && is_name_character(text_[end])) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    at_ = end;
    if (peek() == '(') return call(word, depth);
    if (word == "True" || word == "False") {
      result_.steps_.push_back({.op = Op::integer, .integer = word == "True" ? 1 : 0});
    } else if (word == "int_oo") {
      result_.steps_.push_back(
          {.op = Op::integer, .integer = std::numeric_limits<std::int64_t>::max()});
    } else {
      auto& symbols = result_.symbols_;
      const auto found = std::ranges::find(symbols, word);
      const auto index = static_cast<std::uint32_t>(found - symbols.begin());
      if (found == symbols.end()) symbols.emplace_back(word);
      result_.steps_.push_back({.op = Op::symbol, .symbol = index});
    }
  }
  void call(std::string_view word, int depth) {
    const Function* function = find_function(word);
    if (function == nullptr) return report("unknown function");
    ++at_;  // the opening parenthesis
    const bool shifts = word == "LShift" || word == "RShift";
    std::size_t arguments = 0;
    if (peek() != ')') {
      do {
        if (shifts && arguments == 1) result_.steps_.push_back({.op = Op::integer, .integer = 2});
        disjunction(depth + 1);
        ++arguments;
      } while (!error_ && take(","));
    }
    if (error_) return;
    if (!take(")")) return report("missing `)`");
    if (arguments < function->min_arity || arguments > function->max_arity)
      return report("wrong number of arguments");
    if (function->op == Op::power && arguments == 1) {
      result_.steps_.push_back({.op = Op::real, .real = 0.5});
      ++arguments;
    }
    if (shifts) emit(Op::power, 2);
    emit(function->op, arguments);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  const char* error_ = nullptr;
  Expression result_;
};

Result<Expression> Expression::parse(std::string_view text) {
  return ExpressionParser(text).run();
}

namespace {

using Op = Expression::Op;
using Number = std::variant<std::int64_t, double>;

double as_real(const Number& n) {
  return std::visit([](auto v) { return static_cast<double>(v); }, n);
}
bool both_integers(const Number& a, const Number& b) {
  return a.index() == 0 && b.index() == 0;
}

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

std::optional<std::int64_t> integer_power(std::int64_t base, std::int64_t exponent) {
  if (base == 0 || base == 1) return exponent == 0 ? 1 : base;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  std::int64_t result = 1;
  for (std::int64_t i = 0; i < exponent; ++i) {  // |base| >= 2: overflows within 63 rounds
    const auto next = checked_mul(result, base);
    if (!next) return std::nullopt;
    result = *next;
  }
  return result;
}

std::optional<std::int64_t> to_integer(double value) {
  // 2^63 is exactly representable as a double, and every double below it fits in 64 bits.
  if (!(value >= -9223372036854775808.0 && value < 9223372036854775808.0)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

template <class Value>
Number compare(Op op, Value a, Value b) {
  switch (op) {
    case Op::less:
      return std::int64_t{a < b};
    case Op::less_equal:
      return std::int64_t{a <= b};
    case Op::greater:
      return std::int64_t{a > b};
    case Op::greater_equal:
      return std::int64_t{a >= b};
    case Op::equal:
      return std::int64_t{!(a < b) && !(b < a)};
    default:
      return std::int64_t{a < b || b < a};
  }
}

bool is_less(const Number& a, const Number& b) {
  return both_integers(a, b) ? std::get<0>(a) < std::get<0>(b) : as_real(a) < as_real(b);
}

// Returns nullopt if integers overflow, for a division by zero, or if the operation does not
// support reals. Real arithmetic and powers may return infinity or NaN.
std::optional<Number> binary(Op op, const Number& a, const Number& b) {
  if (op >= Op::less && op <= Op::not_equal)
    return both_integers(a, b) ? compare(op, std::get<0>(a), std::get<0>(b))
                               : compare(op, as_real(a), as_real(b));
  if (op == Op::maximum) return is_less(a, b) ? b : a;
  if (op == Op::minimum) return is_less(b, a) ? b : a;
  if (op == Op::logical_and) return std::int64_t{as_real(a) != 0 && as_real(b) != 0};
  if (op == Op::logical_or) return std::int64_t{as_real(a) != 0 || as_real(b) != 0};
  if (!both_integers(a, b)) {
    const double x = as_real(a), y = as_real(b);
    switch (op) {
      case Op::add:
        return x + y;
      case Op::subtract:
        return x - y;
      case Op::multiply:
        return x * y;
      case Op::divide:
        return y == 0 ? std::nullopt : std::optional<Number>(x / y);
      case Op::power:
        return std::pow(x, y);
      case Op::floor_divide:
        return y == 0 ? std::nullopt : std::optional<Number>(std::floor(x / y));
      default:
        return std::nullopt;
    }
  }
  const std::int64_t x = std::get<0>(a), y = std::get<0>(b);
  const bool divides =
      op == Op::divide || op == Op::floor_divide || op == Op::modulo || op == Op::ceil_divide;
  if (divides && (y == 0 || (x == std::numeric_limits<std::int64_t>::min() && y == -1)))
    return std::nullopt;
  switch (op) {
    case Op::add:
      return checked_add(x, y);
    case Op::subtract:
      return checked_sub(x, y);
    case Op::multiply:
      return checked_mul(x, y);
    case Op::divide:
      if (x % y == 0) return x / y;
      return static_cast<double>(x) / static_cast<double>(y);
    case Op::floor_divide:
      return floor_quotient(x, y);
    case Op::ceil_divide:
      return x % y == 0 ? x / y : floor_quotient(x, y) + 1;
    case Op::modulo: {
      const std::int64_t rest = x % y;
      return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
    }
    case Op::power:
      if (y < 0) return std::pow(static_cast<double>(x), static_cast<double>(y));
      return integer_power(x, y);
    default:
      return std::nullopt;
  }
}

std::optional<Number> unary(Op op, const Number& a) {
  const bool integer = a.index() == 0;
  switch (op) {
    case Op::negate:
      if (integer) return checked_sub(0, std::get<0>(a));
      return -std::get<1>(a);
    case Op::absolute:
      if (integer) return std::get<0>(a) < 0 ? checked_sub(0, std::get<0>(a)) : std::get<0>(a);
      return std::fabs(std::get<1>(a));
    case Op::truncate:
    case Op::floor:
    case Op::ceiling: {
      if (integer) return a;
      const double x = std::get<1>(a);
      const double rounded = op == Op::floor     ? std::floor(x)
                             : op == Op::ceiling ? std::ceil(x)
                                                 : std::trunc(x);
      return to_integer(rounded);
    }
    case Op::logical_not:
      return std::int64_t{as_real(a) == 0};
    default:
      return a;  // identity, and Max/Min/And/Or of one argument
  }
}

}  // namespace

Result<std::int64_t> Expression::evaluate(const Lookup& lookup) const {
  std::vector<Number> stack;
  for (const Step& step : steps_) {
    if (step.op == Op::integer) {
      stack.emplace_back(step.integer);
    } else if (step.op == Op::real) {
      stack.emplace_back(step.real);
    } else if (step.op == Op::symbol) {
      const auto value = lookup(symbols_[step.symbol]);
      if (!value) return input_error("symbol {} has no value", symbols_[step.symbol]);
      stack.emplace_back(*value);
    } else {
      const std::size_t base = stack.size() - step.arity;
      std::optional<Number> value;
      if (step.op == Op::modular_indexing) {  // (x // a) % b
        value = binary(Op::floor_divide, stack[base], stack[base + 1]);
        if (value) value = binary(Op::modulo, *value, stack[base + 2]);
      } else if (step.arity == 1) {
        value = unary(step.op, stack[base]);
      } else {
        value = stack[base];
        for (std::size_t i = base + 1; value && i < stack.size(); ++i)
          value = binary(step.op, *value, stack[i]);
      }
      if (!value)
        return input_error("overflow, division by zero, or a fraction where an integer is needed");
      stack.resize(base);
      stack.push_back(*value);
    }
  }
  const Number& result = stack.back();
  if (result.index() == 0) return std::get<0>(result);
  const auto whole = to_integer(std::get<1>(result));
  if (!whole || static_cast<double>(*whole) < std::get<1>(result) ||
      static_cast<double>(*whole) > std::get<1>(result))
    return input_error("the value {} is not an integer", std::get<1>(result));
  return *whole;
}

std::optional<Expression::SymbolSum> Expression::as_sum_of_symbols() const {
  // In postfix form, Eq(a + b + ..., N) is: a b + ... + N ==
  if (steps_.size() < 3 || steps_.back().op != Op::equal) return std::nullopt;
  const Step& total = steps_[steps_.size() - 2];
  if (total.op != Op::integer) return std::nullopt;
  std::size_t operands = 0, sums = 0;
  for (std::size_t i = 0; i + 2 < steps_.size(); ++i) {
    if (steps_[i].op == Op::symbol) {
      ++operands;
    } else if (steps_[i].op == Op::add) {
      ++sums;
    } else {
      return std::nullopt;
    }
  }
  if (operands != sums + 1 || operands != symbols_.size()) return std::nullopt;
  return SymbolSum{.total = total.integer, .symbols = symbols_};
}

}  // namespace jointer
