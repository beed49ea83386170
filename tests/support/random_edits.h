#pragma once

// Edits for property tests: of every kind, close together so that many are legal, and some that are
// illegal in every graph.

#include <cstdint>
#include <optional>
#include <random>

#include "core/edit/edit.h"

namespace jointer::test {

struct RandomEditOptions {
  bool illegal = true;  // also moved placeholders, removed nodes with readers, ...
  // Only edits that do not change the outputs: no call is replaced, and no call that writes is
  // removed.
  bool same_outputs = false;
  std::size_t reach = 40;  // maximum distance of a move
};

class RandomEdits {
 public:
  explicit RandomEdits(std::uint64_t seed, const RandomEditOptions& options = {})
      : random_(seed), options_(options) {}

  // The edit need not be legal. Empty if the graph lacks what was drawn.
  std::optional<Edit> next(const Graph& graph);

  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }

 private:
  NodeId any_node(const Graph& graph) { return graph.order()[below(graph.order().size())]; }
  std::optional<Edit> move(const Graph& graph);
  std::optional<Edit> move_with_dependents(const Graph& graph);
  std::optional<Edit> tag(const Graph& graph);
  std::optional<Edit> insert_copy(const Graph& graph);
  std::optional<Edit> remove(const Graph& graph);
  std::optional<Edit> replace(const Graph& graph);
  std::optional<Edit> merge(const Graph& graph);
  std::optional<Edit> split(const Graph& graph);

  std::mt19937_64 random_;
  RandomEditOptions options_;
};

}  // namespace jointer::test
