#pragma once

// Sizes over the symbol that graph chunking cuts in two: `512*u0` becomes `512*((u0//2))`.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "passes/ep_overlap/node_marks.h"

namespace jointer {

// The member of `custom` that holds chunk symbols with the numbers that they stand for.
inline constexpr const char* kChunkHints = "torchtitan_chunk_symbol_hints";

using ChunkHints = std::map<std::string, std::int64_t, std::less<>>;

// The dimension that is cut: of the batch, or of the sequence.
enum class ChunkMode : std::uint8_t { batch, seq };

// The symbols in that dimension of placeholders of one half, and those that nodes are marked with.
// Error (usage): two numbers for one symbol, or none.
Result<ChunkHints> find_chunk_hints(const Graph& graph, PartId part, NodeMarks& marks,
                                    ChunkMode mode);

// One term of a sum: a symbol, or half of one, with its factor. Without a symbol: a number.
struct SizeTerm {
  std::int64_t factor = 1;
  std::string symbol;
  bool is_half = false;
  bool is_at_least_one = false;  // Max(1, ...): as strides have it
};
// The size as a sum, if it is one.
std::optional<std::vector<SizeTerm>> parse_size(std::string_view text);
// If it is a multiple of one symbol: of which, how many times.
std::optional<std::pair<std::string, std::int64_t>> multiple_of_symbol(std::string_view text);

class ChunkSizes {
 public:
  // Another symbol for each of these.
  using Renamed = std::map<std::string, std::string, std::less<>>;

  ChunkSizes(Graph& graph, PartId part, ChunkHints hints)
      : graph_(graph), part_(part), hints_(std::move(hints)) {}

  [[nodiscard]] const ChunkHints& hints() const { return hints_; }
  [[nodiscard]] bool is_chunk_symbol(std::string_view symbol) const {
    return hints_.find(symbol) != hints_.end();
  }
  // Whether a chunk symbol is in it.
  [[nodiscard]] bool depends(ExpressionId id);
  [[nodiscard]] bool depends(const Dim& dim) { return dim.expression && depends(dim.expression); }
  // Its number, where chunk symbols are all that it takes.
  [[nodiscard]] std::optional<std::int64_t> hint(const Dim& dim);

  // With chunk symbols halved and others renamed. Error (usage): it is more than a sum of multiples
  // of symbols.
  Result<Dim> of_chunk(const Dim& dim, const Renamed& renamed);
  // The whole of it divided by two.
  Result<Dim> half(const Dim& dim);
  Result<Dim> times(const Dim& dim, std::int64_t factor);
  // As torch multiplies strides with a size: of a symbolic one, Max(1, size).
  Result<Dim> at_least_one(const Dim& dim);

 private:
  using Sum = std::vector<SizeTerm>;

  const std::optional<Sum>& parse(ExpressionId id);
  Result<Dim> intern(Sum sum, ExpressionId like);
  [[nodiscard]] tl::unexpected<Error> too_hard(ExpressionId id) const;

  Graph& graph_;
  PartId part_;
  ChunkHints hints_;
  std::unordered_map<std::uint32_t, std::optional<Sum>> parsed_;
};

}  // namespace jointer
