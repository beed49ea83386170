#pragma once

// Parses and evaluates symbolic sizes as torch prints them: `8*((u2 + u3 + 39)//8)`, `Max(1, s0)`,
// `Eq(u0 + u1, 3072)`.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace jointer {

// A parsed expression over integer symbols. Immutable. The parser limits depth and length, so it is
// safe for any input.
class Expression {
 public:
  // Error (input): the text does not follow the grammar or is nested too deeply (the message gives
  // the column), or is too long.
  static Result<Expression> parse(std::string_view text);

  using Lookup = std::function<std::optional<std::int64_t>(std::string_view symbol)>;
  // Evaluates to an integer; conditions evaluate to 0 or 1. Error (input): the result is not an
  // integer, arithmetic overflows, a divisor is zero, an operand of an integer operation is a
  // fraction, or `lookup` does not know a symbol.
  [[nodiscard]] Result<std::int64_t> evaluate(const Lookup& lookup) const;

  [[nodiscard]] const std::string& text() const { return text_; }
  // The distinct symbols, in order of first appearance.
  [[nodiscard]] const std::vector<std::string>& symbols() const { return symbols_; }

  struct SymbolSum {
    std::int64_t total;
    std::vector<std::string> symbols;
  };
  // Returns the total and the symbols of `Eq(a + b + ..., N)`; nullopt for any other expression.
  [[nodiscard]] std::optional<SymbolSum> as_sum_of_symbols() const;

  // The operations of the postfix program. The first three push an operand; the others replace the
  // last `arity` values with their result.
  enum class Op : std::uint8_t {
    integer,
    real,
    symbol,
    add,
    subtract,
    multiply,
    divide,
    floor_divide,
    modulo,
    power,
    negate,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal,
    maximum,
    minimum,
    ceil_divide,
    modular_indexing,
    absolute,
    identity,
    truncate,
    ceiling,
    floor,
    logical_and,
    logical_or,
    logical_not,
  };
  struct Step {
    Op op = Op::integer;
    std::uint16_t arity = 0;
    std::uint32_t symbol = 0;
    std::int64_t integer = 0;
    double real = 0;
  };

 private:
  std::string text_;
  std::vector<Step> steps_;
  std::vector<std::string> symbols_;
  friend class ExpressionParser;
};

}  // namespace jointer
