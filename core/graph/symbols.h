#pragma once

// Which number stands for each symbol of a graph, and where it came from.

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

namespace jointer {

// What a capture says about its symbols.
struct SymbolTable {
  struct Variable {
    std::string name;
    std::optional<std::int64_t> min, max;
    std::optional<std::int64_t> hint;  // none: unbacked, only known when the program runs
  };
  std::vector<Variable> variables;
  std::vector<std::string> floats;  // symbols that stand for floats: no size depends on them
  std::vector<std::pair<std::string, std::string>> replacements;  // symbol -> expression
  std::vector<std::string> asserts;                               // conditions that must hold
  std::vector<std::pair<std::string, std::int64_t>> assumed;

  // Listed among the floats, or named as torch names symbols of floats: zf0, zuf3.
  [[nodiscard]] bool is_float(std::string_view symbol) const;
  // An expression with a symbol of a float in it: its value is a float.
  [[nodiscard]] bool is_float_expression(std::string_view expression) const;
};

// What a person says: `u0=64,u1=32`, or a plain `64` for every unbacked symbol.
struct Assumptions {
  std::optional<std::int64_t> fallback;
  std::map<std::string, std::int64_t, std::less<>> named;

  [[nodiscard]] bool empty() const { return !fallback && named.empty(); }
  // Error (usage): not a list of NAME=NUMBER and NUMBER.
  static Result<Assumptions> parse(std::string_view text);
  // Where both say something, `others` wins.
  void lay_over(const Assumptions& others);
  // What `parse` reads back; empty for none.
  [[nodiscard]] std::string text() const;
};

enum class SymbolSource : std::uint8_t {
  given,        // a person's assumption
  capture,      // the capture's own `assumed`
  hint,         // what the traced program had
  replacement,  // equal to another symbol
  balanced,     // an equal share where the capture asserts that symbols add up to a number
  fallback,     // nothing is known: the first balanced share of the graph, else 64
};
std::string_view to_string(SymbolSource source);

struct SymbolValue {
  std::string name;
  std::int64_t value = 0;
  SymbolSource source = SymbolSource::fallback;
};

// Lets a map of strings be asked with a view.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept {
    return std::hash<std::string_view>{}(text);
  }
};

// The number of every symbol. The order of precedence is that of SymbolSource. Balanced routing is
// what an MoE model is trained towards, so it is the default for token counts.
class SymbolValues {
 public:
  // Several tables count as one: the halves of a pair come from one tracing. Error: an assumption
  // names no symbol of them, or a replacement cannot be evaluated.
  static Result<SymbolValues> resolve(std::span<const SymbolTable* const> tables,
                                      const Assumptions& assumptions);

  [[nodiscard]] std::optional<std::int64_t> find(std::string_view name) const;
  [[nodiscard]] const std::vector<SymbolValue>& all() const { return values_; }
  // The asserts that these numbers violate, as text.
  [[nodiscard]] const std::vector<std::string>& violated() const { return violated_; }

 private:
  std::vector<SymbolValue> values_;  // in the table's order
  std::unordered_map<std::string, std::size_t, TextHash, std::equal_to<>> index_;
  std::vector<std::string> violated_;
};

}  // namespace jointer
