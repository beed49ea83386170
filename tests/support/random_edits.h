#pragma once

// Edits for property tests: of every kind, near each other so that many are legal, and some that no
// graph allows.

#include <cstdint>
#include <optional>
#include <random>

#include "core/edit/edit.h"

namespace jointer::test {

struct RandomEditOptions {
  bool illegal = true;  // also placeholders that move, nodes that are read and go, ...
  // Only what changes no output: moves, copies that are inserted, buckets, tags. All else too
  // where it is not set.
  bool same_outputs = false;
  std::size_t reach = 40;  // how far a move goes at most
};

class RandomEdits {
 public:
  explicit RandomEdits(std::uint64_t seed, const RandomEditOptions& options = {})
      : random_(seed), options_(options) {}

  // The graph need not allow it. Nothing where what was drawn does not exist in this graph.
  std::optional<Edit> next(const Graph& graph);

  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }

 private:
  NodeId any_node(const Graph& graph) { return graph.order()[below(graph.order().size())]; }
  std::optional<Edit> move(const Graph& graph);
  std::optional<Edit> carried_move(const Graph& graph);
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
