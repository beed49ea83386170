#include "core/graph/symbols.h"

#include <algorithm>
#include <array>
#include <span>

#include "core/base/characters.h"
#include "core/base/nearest_name.h"
#include "core/base/number_text.h"
#include "core/base/take_part.h"
#include "core/graph/expression.h"

namespace jointer {

bool SymbolTable::is_float(std::string_view symbol) const {
  if (std::ranges::find(floats, symbol) != floats.end()) return true;
  for (const std::string_view prefix : {"zf", "zuf"})
    if (symbol.starts_with(prefix) && is_digits(symbol.substr(prefix.size()))) return true;
  return false;
}

bool SymbolTable::is_float_expression(std::string_view expression) const {
  for (std::size_t begin = 0; begin < expression.size();) {
    const std::size_t end = static_cast<std::size_t>(
        std::find_if_not(expression.begin() + static_cast<std::ptrdiff_t>(begin), expression.end(),
                         is_name_character) -
        expression.begin());
    if (end > begin && is_float(expression.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

Result<Assumptions> Assumptions::parse(std::string_view text) {
  Assumptions result;
  while (!text.empty()) {
    const std::string_view item = take_part(text, ',');
    const auto equals = item.find('=');
    const std::string_view digits =
        equals == std::string_view::npos ? item : item.substr(equals + 1);
    const auto number = number_of<std::int64_t>(digits);
    if (!number || *number < 0 || equals == 0)
      return fail(
          Error::Kind::usage,
          "expected NAME=VALUE with a value of at least 0, such as u0=64, or one value for all "
          "unbacked symbols, got `{}`",
          item);
    if (equals == std::string_view::npos)
      result.fallback = *number;
    else
      result.named.insert_or_assign(std::string(item.substr(0, equals)), *number);
  }
  return result;
}

void Assumptions::override_with(const Assumptions& others) {
  if (others.fallback) fallback = others.fallback;
  for (const auto& [name, value] : others.named) named.insert_or_assign(name, value);
}

std::string Assumptions::text() const {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ",") + part; };
  if (fallback) add(std::to_string(*fallback));
  for (const auto& [name, value] : named) add(fmt::format("{}={}", name, value));
  return text;
}

std::string_view to_string(SymbolSource source) {
  static constexpr std::array<std::string_view, 6> kNames{
      "given", "assumed in the capture", "hint", "replacement", "balanced routing", "default"};
  return kNames[static_cast<std::size_t>(source)];
}

namespace {

constexpr std::int64_t kDefaultSize = 64;
constexpr int kMaxReplacements = 32;  // in a chain

using Tables = std::span<const SymbolTable* const>;

// Keys are views into the tables, which outlive these maps.
template <class Value>
using ByName = std::unordered_map<std::string_view, Value>;

// The assertions in the captures, except those that cannot be parsed.
std::vector<Expression> parse_asserts(Tables tables) {
  std::vector<Expression> asserts;
  for (const SymbolTable* table : tables)
    for (const std::string& text : table->asserts)
      if (auto expression = Expression::parse(text)) asserts.push_back(*std::move(expression));
  return asserts;
}

// For each symbol, an equal share of the first asserted sum that contains it.
struct Shares {
  std::unordered_map<std::string, std::int64_t> by_symbol;
  std::optional<std::int64_t> first;
};

Shares balanced_shares(std::span<const Expression> asserts) {
  Shares shares;
  for (const Expression& assertion : asserts) {
    const auto sum = assertion.as_sum_of_symbols();
    if (!sum) continue;
    const std::int64_t share = sum->total / static_cast<std::int64_t>(sum->symbols.size());
    if (!shares.first) shares.first = share;
    for (const std::string& symbol : sum->symbols) shares.by_symbol.emplace(symbol, share);
  }
  return shares;
}

// Finds the value of a symbol, following chains of replacements. Error: the replacements form a
// cycle, or a replacement cannot be evaluated.
class Resolver {
 public:
  Resolver(Tables tables, const Assumptions& assumptions, std::span<const Expression> asserts)
      : assumptions_(assumptions), shares_(balanced_shares(asserts)) {
    for (const SymbolTable* table : tables) {
      for (const auto& variable : table->variables) variables_.emplace(variable.name, &variable);
      for (const auto& [name, text] : table->replacements) replacements_.emplace(name, text);
      for (const auto& [name, value] : table->assumed) assumed_.emplace(name, value);
    }
  }

  // Caches values: otherwise, replacements with several symbols each would take exponential time.
  [[nodiscard]] Result<SymbolValue> value(const std::string& name, int depth = 0) {
    if (const auto it = resolved_.find(name); it != resolved_.end()) return it->second;
    JOINTER_TRY(SymbolValue result, resolve(name, depth));
    resolved_.emplace(name, result);
    return result;
  }

 private:
  [[nodiscard]] Result<SymbolValue> resolve(const std::string& name, int depth) {
    const auto make = [&](std::int64_t number, SymbolSource source) {
      return SymbolValue{.name = name, .value = number, .source = source};
    };
    if (const auto it = assumptions_.named.find(name); it != assumptions_.named.end())
      return make(it->second, SymbolSource::given);
    if (const auto it = assumed_.find(name); it != assumed_.end())
      return make(it->second, SymbolSource::capture);
    const auto variable = variables_.find(name);
    if (variable != variables_.end() && variable->second->hint)
      return make(*variable->second->hint, SymbolSource::hint);
    if (const auto it = replacements_.find(name); it != replacements_.end()) {
      if (depth > kMaxReplacements)
        return input_error("the replacements of symbol {} form a cycle, or a chain of more than {}",
                           name, kMaxReplacements);
      const auto because = [&](const Error& error) {
        return input_error("replacement of symbol {}: {}", name, error.message);
      };
      const auto expression = Expression::parse(it->second);
      if (!expression) return because(expression.error());
      std::optional<Error> inner_error;
      const auto number =
          expression->evaluate([&](std::string_view s) -> std::optional<std::int64_t> {
            const auto inner = value(std::string(s), depth + 1);
            if (inner) return inner->value;
            inner_error = inner.error();
            return std::nullopt;
          });
      if (inner_error) return tl::unexpected(*inner_error);
      if (!number) return because(number.error());
      return make(*number, SymbolSource::replacement);
    }
    if (assumptions_.fallback) return make(*assumptions_.fallback, SymbolSource::given);
    const auto share = shares_.by_symbol.find(name);
    SymbolValue result = share != shares_.by_symbol.end()
                             ? make(share->second, SymbolSource::balanced)
                             : make(shares_.first.value_or(kDefaultSize), SymbolSource::fallback);
    if (variable != variables_.end()) {
      if (const auto& min = variable->second->min) result.value = std::max(result.value, *min);
      if (const auto& max = variable->second->max) result.value = std::min(result.value, *max);
    }
    return result;
  }

  const Assumptions& assumptions_;
  Shares shares_;
  ByName<const SymbolTable::Variable*> variables_;
  ByName<std::string_view> replacements_;
  ByName<std::int64_t> assumed_;
  std::unordered_map<std::string, SymbolValue> resolved_;
};

}  // namespace

Result<SymbolValues> SymbolValues::resolve(Tables tables, const Assumptions& assumptions) {
  SymbolValues result;
  const std::vector<Expression> asserts = parse_asserts(tables);
  Resolver resolver(tables, assumptions, asserts);
  const auto add = [&](const std::string& name) -> Result<void> {
    if (result.index_.contains(name)) return {};
    JOINTER_TRY(SymbolValue value, resolver.value(name));
    result.index_.emplace(name, result.values_.size());
    result.values_.push_back(std::move(value));
    return {};
  };
  for (const SymbolTable* table : tables) {
    for (const auto& variable : table->variables) JOINTER_CHECK(add(variable.name));
    for (const auto& [name, text] : table->replacements) JOINTER_CHECK(add(name));
    for (const auto& [name, value] : table->assumed) JOINTER_CHECK(add(name));
  }
  for (const auto& [name, value] : assumptions.named)
    if (!result.index_.contains(name)) {
      std::vector<std::string_view> known;
      for (const SymbolValue& each : result.values_) known.push_back(each.name);
      return fail(Error::Kind::usage, "cannot assume a value for {}: the graph has no {}", name,
                  known.empty() ? std::string("symbols")
                                : "such symbol; its symbols are " + some_names(name, known));
    }

  for (const Expression& assertion : asserts) {
    const auto holds = assertion.evaluate([&](std::string_view s) { return result.find(s); });
    if (holds && *holds == 0) result.violated_.push_back(assertion.text());
  }
  return result;
}

std::optional<std::int64_t> SymbolValues::find(std::string_view name) const {
  const auto it = index_.find(name);
  return it == index_.end() ? std::nullopt : std::optional(values_[it->second].value);
}

}  // namespace jointer
