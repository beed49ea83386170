// Reads and writes expressions as sympy prints them. Graph chunking handles linear sums of symbols
// (1536*u0, u1 + u2), strides that contain them (8*Max(1, u0)), and the halves that it writes
// ((u0//2)); it refuses all other expressions.
//
// Source: torchtitan 0.3.0, experiments/graph_trainer/ep_pass_utils.py and ep_chunk_pass.py, which
// use sympy.

#include "passes/ep_overlap/chunk_sizes.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "core/base/characters.h"

namespace jointer {
namespace {

constexpr std::string_view kSums = "a sum of multiples of symbols";

Result<void> add_hint(ChunkHints& hints, const std::string& symbol, std::int64_t hint,
                      std::string_view node) {
  const auto [at, is_new] = hints.try_emplace(symbol, hint);
  if (!is_new && at->second != hint)
    return fail(Error::Kind::usage,
                "{}: the chunk symbol {} has the value {}, but earlier in the graph it had the "
                "value {}; trace the step again with --compile.ep_overlap.enabled",
                node, symbol, hint, at->second);
  return {};
}

// The value to use for a chunk symbol: its hint or, if there is none, its upper bound.
std::optional<std::int64_t> number_of(const SymbolTable& table, std::string_view symbol) {
  for (const SymbolTable::Variable& each : table.variables)
    if (each.name == symbol) return each.hint ? each.hint : each.max;
  return std::nullopt;
}

Result<void> find_in_placeholder(const Graph& graph, NodeId id, std::size_t at, ChunkHints& hints) {
  const Tensor* tensor = graph.single_tensor(graph.node(id));
  if (tensor == nullptr || at >= graph.shape(*tensor).size()) return {};
  const Dim extent = graph.shape(*tensor)[at];
  if (!extent.expression) return {};
  const auto multiple = multiple_of_symbol(graph.expression_text(extent.expression));
  const auto number =
      multiple ? number_of(graph.part(graph.node(id).part).symbols, multiple->first) : std::nullopt;
  if (!number)
    return fail(
        Error::Kind::usage,
        "dimension {} of {} has size {}, {}; trace the step again with "
        "--compile.ep_overlap.enabled",
        at, graph.name(id), graph.expression_text(extent.expression),
        multiple ? "whose value is not in the capture" : "which is not a multiple of one symbol");
  return add_hint(hints, multiple->first, *number, graph.name(id));
}

}  // namespace

Result<void> add_marked_hints(const Graph& graph, NodeId id, Annotations& marks,
                              ChunkHints& hints) {
  const OrderedJson* said = marks.find(id, kChunkHints);
  if (said == nullptr || !said->is_object()) return {};
  for (const auto& [symbol, hint] : said->items()) {
    if (!hint.is_number_integer())
      return fail(Error::Kind::usage, "{}: {} must map the chunk symbol {} to an integer",
                  graph.name(id), kChunkHints, symbol);
    JOINTER_CHECK(add_hint(hints, symbol, hint.get<std::int64_t>(), graph.name(id)));
  }
  return {};
}

Result<ChunkHints> find_chunk_hints(const Graph& graph, PartId part, Annotations& marks,
                                    ChunkMode mode) {
  ChunkHints hints;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.part != part) continue;
    JOINTER_CHECK(add_marked_hints(graph, id, marks, hints));
    if (node.kind == NodeKind::placeholder)
      JOINTER_CHECK(find_in_placeholder(graph, id, mode == ChunkMode::batch ? 0 : 1, hints));
  }
  return hints;
}

bool ChunkSizes::depends(ExpressionId id) {
  return std::ranges::any_of(graph_.expression(id).symbols(),
                             [&](const std::string& each) { return is_chunk_symbol(each); });
}

std::optional<std::int64_t> ChunkSizes::hint(const Dim& dim) {
  if (!dim.expression) return dim.value;
  const auto& sum = parse(dim.expression);
  if (!sum) return std::nullopt;
  std::int64_t total = 0;
  for (const SizeTerm& term : *sum) {
    std::int64_t value = 1;
    if (!term.symbol.empty()) {
      const auto hint = hints_.find(term.symbol);
      if (hint == hints_.end()) return std::nullopt;
      value = term.is_half ? hint->second / 2 : hint->second;
      if (term.is_at_least_one) value = std::max<std::int64_t>(value, 1);
    }
    std::int64_t product = 0;
    if (__builtin_mul_overflow(value, term.factor, &product) ||
        __builtin_add_overflow(total, product, &total))
      return std::nullopt;
  }
  return total;
}

std::optional<std::vector<SizeTerm>> parse_size(std::string_view text) {
  std::vector<SizeTerm> sum;
  const auto take_number = [&](std::int64_t& number) {
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (status != std::errc{}) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
  };
  const auto take = [&](std::string_view token) {
    if (!text.starts_with(token)) return false;
    text.remove_prefix(token.size());
    return true;
  };
  for (;;) {
    SizeTerm term;
    const bool has_factor = take_number(term.factor);
    if (!has_factor) term.factor = 1;
    if (!has_factor || take("*")) {
      term.is_at_least_one = take("Max(1, ");
      const bool is_double = take("((");
      term.is_half = is_double || take("(");
      while (!text.empty() && is_name_character(text[0])) {
        term.symbol += text[0];
        text.remove_prefix(1);
      }
      if (term.symbol.empty() || (term.is_half && !take(is_double ? "//2))" : "//2)")) ||
          (term.is_at_least_one && !take(")")))
        return std::nullopt;
    }
    sum.push_back(std::move(term));
    if (text.empty()) return sum;
    if (!take(" + ")) return std::nullopt;
  }
}

std::optional<std::pair<std::string, std::int64_t>> multiple_of_symbol(std::string_view text) {
  const auto sum = parse_size(text);
  if (!sum || sum->size() != 1 || sum->front().symbol.empty() || sum->front().is_half ||
      sum->front().is_at_least_one || sum->front().factor <= 0)
    return std::nullopt;
  return std::pair{sum->front().symbol, sum->front().factor};
}

const std::optional<ChunkSizes::Sum>& ChunkSizes::parse(ExpressionId id) {
  const auto [at, is_new] = parsed_.try_emplace(id.value());
  if (is_new) at->second = parse_size(graph_.expression_text(id));
  return at->second;
}

tl::unexpected<Error> ChunkSizes::unsupported(ExpressionId id, std::string_view expected) const {
  return fail(Error::Kind::usage, "{}: the size {} is not supported; expected {}", where,
              graph_.expression_text(id), expected);
}

// Writes the sum as sympy prints it. A half, (u0//2), gets a second pair of parentheses if it has a
// factor or is a term of a sum, but not within Max.
Result<Dim> ChunkSizes::intern(Sum sum, ExpressionId like) {
  std::ranges::sort(sum, [](const SizeTerm& a, const SizeTerm& b) {
    if (a.symbol.empty() != b.symbol.empty()) return b.symbol.empty();
    return a.symbol < b.symbol;
  });
  std::string text;
  for (const SizeTerm& term : sum) {
    if (!text.empty()) text += " + ";
    const bool is_alone = sum.size() == 1 && term.factor == 1;
    std::string atom = term.is_half ? fmt::format("({}//2)", term.symbol) : term.symbol;
    if (term.is_at_least_one)
      atom = fmt::format("Max(1, {})", atom);
    else if (term.is_half && !is_alone)
      atom = fmt::format("({})", atom);
    if (term.symbol.empty())
      text += std::to_string(term.factor);
    else if (term.factor == 1)
      text += atom;
    else
      text += fmt::format("{}*{}", term.factor, atom);
  }
  JOINTER_TRY(const ExpressionId id,
              graph_.intern_expression(part_, text, graph_.expression_hint(like)));
  parsed_.try_emplace(id.value(), std::move(sum));
  return Dim{0, id};
}

Result<Dim> ChunkSizes::of_chunk(const Dim& dim, const Renamed& renamed) {
  if (!dim.expression) return dim;
  const auto& symbols = graph_.expression(dim.expression).symbols();
  if (std::ranges::none_of(symbols, [&](const std::string& each) {
        return is_chunk_symbol(each) || renamed.contains(each);
      }))
    return dim;
  const auto& sum = parse(dim.expression);
  if (!sum) return unsupported(dim.expression, kSums);
  Sum changed = *sum;
  for (SizeTerm& term : changed) {
    if (is_chunk_symbol(term.symbol)) {
      if (term.is_half) return unsupported(dim.expression, "chunk symbols that are not halved yet");
      term.is_half = true;
    } else if (const auto to = renamed.find(term.symbol); to != renamed.end()) {
      term.symbol = to->second;
    }
  }
  return intern(std::move(changed), dim.expression);
}

Result<Dim> ChunkSizes::half(const Dim& dim) {
  if (!dim.expression) return Dim{dim.value / 2, {}};
  const auto& sum = parse(dim.expression);
  if (!sum) return unsupported(dim.expression, kSums);
  Sum changed = *sum;
  for (SizeTerm& term : changed) {
    if (term.factor % 2 == 0) {
      term.factor /= 2;
    } else if (changed.size() == 1 && term.factor == 1 && !term.is_half && !term.is_at_least_one) {
      term.is_half = true;
    } else {
      return unsupported(dim.expression, "a symbol or a sum of even multiples of symbols");
    }
  }
  return intern(std::move(changed), dim.expression);
}

Result<Dim> ChunkSizes::times(const Dim& dim, std::int64_t factor) {
  const auto multiply = [&](std::int64_t a, std::int64_t& into) -> Result<void> {
    if (!__builtin_mul_overflow(a, factor, &into)) return {};
    return fail(Error::Kind::usage,
                "{}: a stride, an offset or the number of bytes of a chunk's tensor overflows 64 "
                "bits: {} * {}",
                where, a, factor);
  };
  Dim changed = dim;
  if (!dim.expression) {
    JOINTER_CHECK(multiply(dim.value, changed.value));
    return changed;
  }
  const auto& sum = parse(dim.expression);
  if (!sum) return unsupported(dim.expression, kSums);
  Sum scaled = *sum;
  for (SizeTerm& term : scaled) JOINTER_CHECK(multiply(term.factor, term.factor));
  return intern(std::move(scaled), dim.expression);
}

Result<Dim> ChunkSizes::at_least_one(const Dim& dim) {
  if (!dim.expression) return Dim{std::max<std::int64_t>(dim.value, 1), {}};
  const auto& sum = parse(dim.expression);
  if (!sum || sum->size() != 1 || sum->front().symbol.empty() || sum->front().factor != 1)
    return unsupported(dim.expression, "a symbol");
  Sum changed = *sum;
  changed.front().is_at_least_one = true;
  return intern(std::move(changed), dim.expression);
}

}  // namespace jointer
