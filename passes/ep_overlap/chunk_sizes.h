#pragma once

// Sizes that depend on the symbol that graph chunking splits in two: `512*u0` becomes
// `512*((u0//2))`.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "passes/support/annotations.h"

namespace jointer {

// The member of `custom` that contains the chunk symbols and their hints.
inline constexpr const char* kChunkHints = "torchtitan_chunk_symbol_hints";

using ChunkHints = std::map<std::string, std::int64_t, std::less<>>;

// The dimension to split: the batch or the sequence.
enum class ChunkMode : std::uint8_t { batch, seq };

// Adds the chunk symbols that the node's marks name. Error (usage): a symbol has two different
// values, or one that is not an integer.
Result<void> add_marked_hints(const Graph& graph, NodeId id, Annotations& marks, ChunkHints& hints);
// The chunk symbols in a part of the graph: the symbols in the split dimension of placeholders, and
// those named by marks on nodes. Error (usage): a symbol has two different values, none, or one
// that is not an integer, or the size of a split dimension is not a multiple of one symbol.
Result<ChunkHints> find_chunk_hints(const Graph& graph, PartId part, Annotations& marks,
                                    ChunkMode mode);

// One term of a sum: a symbol or half a symbol, times a factor. If there is no symbol, the term is
// the factor.
struct SizeTerm {
  std::int64_t factor = 1;
  std::string symbol;
  bool is_half = false;
  bool is_at_least_one = false;  // Max(1, ...), as in strides
};
// The size as a sum; std::nullopt if it has a different form.
std::optional<std::vector<SizeTerm>> parse_size(std::string_view text);
// The symbol and factor of a size that is a multiple of one symbol; std::nullopt for other sizes.
std::optional<std::pair<std::string, std::int64_t>> multiple_of_symbol(std::string_view text);

class ChunkSizes {
 public:
  // Maps old symbols to new ones.
  using Renamed = std::map<std::string, std::string, std::less<>>;

  ChunkSizes(Graph& graph, PartId part, ChunkHints hints)
      : graph_(graph), part_(part), hints_(std::move(hints)) {}

  // The module that is being split, such as "layers.1.moe (forward)", for errors.
  std::string where;

  [[nodiscard]] const ChunkHints& hints() const { return hints_; }
  [[nodiscard]] bool is_chunk_symbol(std::string_view symbol) const {
    return hints_.find(symbol) != hints_.end();
  }
  // True if the size contains a chunk symbol.
  [[nodiscard]] bool depends(ExpressionId id);
  [[nodiscard]] bool depends(const Dim& dim) { return dim.expression && depends(dim.expression); }
  // The value of the size; std::nullopt if it is not a linear sum of chunk symbols, or overflows.
  [[nodiscard]] std::optional<std::int64_t> hint(const Dim& dim);

  // The size with chunk symbols halved and other symbols renamed. Error (usage): it is not a linear
  // sum of symbols, or it already contains half a chunk symbol.
  Result<Dim> of_chunk(const Dim& dim, const Renamed& renamed);
  // Half of the size; half of a constant or of a single symbol is rounded down. Error (usage): any
  // other size that is not a sum of even multiples of symbols.
  Result<Dim> half(const Dim& dim);
  // Error (usage): the size is not a sum of multiples of symbols, or the product overflows.
  Result<Dim> times(const Dim& dim, std::int64_t factor);
  // The factor by which torch multiplies strides: Max(1, size). Error (usage): the size is neither
  // a constant nor a single symbol.
  Result<Dim> at_least_one(const Dim& dim);

 private:
  using Sum = std::vector<SizeTerm>;

  const std::optional<Sum>& parse(ExpressionId id);
  Result<Dim> intern(Sum sum, ExpressionId like);
  [[nodiscard]] tl::unexpected<Error> unsupported(ExpressionId id, std::string_view expected) const;

  Graph& graph_;
  PartId part_;
  ChunkHints hints_;
  std::unordered_map<std::uint32_t, std::optional<Sum>> parsed_;
};

}  // namespace jointer
