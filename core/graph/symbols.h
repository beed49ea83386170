#pragma once

// Determines the value of each symbol of a graph, and the source of that value.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/base/text_hash.h"

namespace jointer {

// The symbols of a capture, as recorded in its file.
struct SymbolTable {
  struct Variable {
    std::string name;
    std::optional<std::int64_t> min, max;
    std::optional<std::int64_t> hint;  // nullopt if unbacked: known only at run time
  };
  std::vector<Variable> variables;
  std::vector<std::string> floats;  // symbols for floats: no size depends on them
  std::vector<std::pair<std::string, std::string>> replacements;  // symbol -> expression
  std::vector<std::string> asserts;                               // conditions that must hold
  std::vector<std::pair<std::string, std::int64_t>> assumed;

  // True for symbols that are listed as floats, or have a name that torch gives to floats: zf0,
  // zuf3.
  [[nodiscard]] bool is_float(std::string_view symbol) const;
  // True for an expression that contains a float symbol, so that its value is a float.
  [[nodiscard]] bool is_float_expression(std::string_view expression) const;
};

// The user's assumptions: `u0=64,u1=32`, or just `64` for every unbacked symbol.
struct Assumptions {
  std::optional<std::int64_t> fallback;
  std::map<std::string, std::int64_t, std::less<>> named;

  [[nodiscard]] bool empty() const { return !fallback && named.empty(); }
  // Error (usage): the text is not a list of NAME=NUMBER or NUMBER items, or a number is negative.
  static Result<Assumptions> parse(std::string_view text);
  // Adds `others`, which take precedence.
  void override_with(const Assumptions& others);
  // The assumptions as text that `parse` accepts; empty if there are none.
  [[nodiscard]] std::string text() const;
};

enum class SymbolSource : std::uint8_t {
  given,        // the user's assumption
  capture,      // `assumed` in the capture
  hint,         // the value when the program was traced
  replacement,  // computed from other symbols
  // An equal share of a sum of symbols that the capture asserts, within the symbol's range.
  balanced,
  // Unknown: the graph's first balanced share, or 64 if there is none, within the symbol's range.
  fallback,
};
std::string_view to_string(SymbolSource source);

struct SymbolValue {
  std::string name;
  std::int64_t value = 0;
  SymbolSource source = SymbolSource::fallback;
};

// The values of all symbols. SymbolSource lists the sources in order of precedence, except that
// Assumptions::fallback comes after replacements. MoE models are trained toward balanced routing,
// so token counts default to a balanced share.
class SymbolValues {
 public:
  // Several tables are treated as one, since the halves of a pair come from one trace. Error: an
  // assumption names an unknown symbol, or a replacement cannot be evaluated.
  static Result<SymbolValues> resolve(std::span<const SymbolTable* const> tables,
                                      const Assumptions& assumptions);

  [[nodiscard]] std::optional<std::int64_t> find(std::string_view name) const;
  [[nodiscard]] const std::vector<SymbolValue>& all() const { return values_; }
  // The assertions that these values violate, as text.
  [[nodiscard]] const std::vector<std::string>& violated() const { return violated_; }

 private:
  std::vector<SymbolValue> values_;  // in the order of the tables
  std::unordered_map<std::string, std::size_t, TextHash, std::equal_to<>> index_;
  std::vector<std::string> violated_;
};

}  // namespace jointer
