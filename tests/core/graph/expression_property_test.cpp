// Random expressions, compared with an evaluator of the tree that they were written from.

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "core/graph/expression.h"

namespace jointer {
namespace {

__extension__ using Wide = __int128;

const std::map<std::string, std::int64_t, std::less<>> kSymbols{
    {"s0", 8}, {"u0", 3}, {"u1", 0}, {"zeta", -5}};

// Empty on overflow or division by zero.
struct Written {
  std::string text;
  std::optional<Wide> value;
};

Wide floor_divide(Wide a, Wide b) {
  const Wide q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

std::optional<Wide> checked(Wide value) {
  const Wide limit = Wide{1} << 63;
  return value >= -limit && value < limit ? std::optional(value) : std::nullopt;
}

Written write(int depth);

Written binary(int depth) {
  const Written a = write(depth - 1), b = write(depth - 1);
  static const std::vector<std::string> kOperators{"+",  "-",        "*",   "//",       "%",
                                                   "==", "!=",       "<",   "<=",       ">",
                                                   ">=", "Max",      "Min", "FloorDiv", "Mod",
                                                   "Eq", "PythonMod"};
  const std::string op = *rc::gen::elementOf(kOperators);
  const bool is_call = std::isalpha(static_cast<unsigned char>(op.front())) != 0;
  Written result{is_call ? fmt::format("{}({}, {})", op, a.text, b.text)
                         : fmt::format("({} {} {})", a.text, op, b.text),
                 std::nullopt};
  if (!a.value || !b.value) return result;
  const Wide x = *a.value, y = *b.value;
  const bool divides =
      op == "//" || op == "%" || op == "FloorDiv" || op == "Mod" || op == "PythonMod";
  if (divides && y == 0) return result;
  if (op == "+") result.value = checked(x + y);
  if (op == "-") result.value = checked(x - y);
  if (op == "*") result.value = checked(x * y);
  if (op == "//" || op == "FloorDiv") result.value = checked(floor_divide(x, y));
  if (op == "%" || op == "Mod" || op == "PythonMod") result.value = x - floor_divide(x, y) * y;
  if (op == "==" || op == "Eq") result.value = x == y ? 1 : 0;
  if (op == "!=") result.value = x != y ? 1 : 0;
  if (op == "<") result.value = x < y ? 1 : 0;
  if (op == "<=") result.value = x <= y ? 1 : 0;
  if (op == ">") result.value = x > y ? 1 : 0;
  if (op == ">=") result.value = x >= y ? 1 : 0;
  if (op == "Max") result.value = std::max(x, y);
  if (op == "Min") result.value = std::min(x, y);
  return result;
}

Written write(int depth) {
  if (depth == 0 || *rc::gen::inRange(0, 4) == 0) {
    if (*rc::gen::arbitrary<bool>()) {
      const auto number =
          *rc::gen::element<std::int64_t>(0, 1, 2, 7, 64, 4096, 3037000500, 9223372036854775807);
      return {std::to_string(number), number};
    }
    const auto& [name, value] = *std::next(kSymbols.begin(), *rc::gen::inRange(0, 4));
    return {name, value};
  }
  if (*rc::gen::inRange(0, 5) == 0) {
    const Written a = write(depth - 1);
    return {"-" + (a.text.front() == '(' ? a.text : "(" + a.text + ")"),
            a.value ? checked(-*a.value) : std::nullopt};
  }
  return binary(depth);
}

RC_GTEST_PROP(ExpressionProperty, EqualsTheValueOfItsTree, ()) {
  const Written written = write(4);
  const auto expression = Expression::parse(written.text);
  RC_ASSERT(expression.has_value());
  RC_ASSERT(expression->text() == written.text);
  const auto value = expression->evaluate([](std::string_view name) -> std::optional<std::int64_t> {
    return kSymbols.find(name)->second;
  });
  RC_ASSERT(value.has_value() == written.value.has_value());
  if (value) RC_ASSERT(Wide{*value} == *written.value);
  for (const std::string& symbol : expression->symbols()) RC_ASSERT(kSymbols.contains(symbol));
}

RC_GTEST_PROP(ExpressionProperty, AnyTextIsParsedOrRefused, ()) {
  const std::string text = *rc::gen::container<std::string>(
      rc::gen::elementOf(std::string("su01 +-*/%()<>=!,.eMaxModEqintNot_&|~\n\x80")));
  const auto expression = Expression::parse(text);
  if (!expression) {
    RC_ASSERT(!expression.error().message.empty());
    return;
  }
  const auto value = expression->evaluate([](std::string_view) { return 3; });
  if (!value) RC_ASSERT(!value.error().message.empty());
}

}  // namespace
}  // namespace jointer
