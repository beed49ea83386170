// Random moves, of blocks that are contiguous or not, leave no trace once they are undone.

#include "core/schedule/trial_moves.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>

#include "tests/support/random_costs.h"
#include "tests/support/random_graph.h"

namespace jointer {
namespace {

// A call, sometimes with others after it, that can move.
std::vector<NodeId> pick_block(const Graph& graph, const WhatIf& what_if, std::mt19937_64& chance) {
  const auto order = what_if.order();
  for (int attempt = 0; attempt < 40; ++attempt) {
    std::vector<NodeId> block;
    std::size_t place = chance() % order.size();
    for (std::size_t more = 1 + chance() % 3; more > 0 && place < order.size(); --more) {
      if (graph.node(order[place]).kind == NodeKind::call) block.push_back(order[place]);
      place += 1 + chance() % 3;
    }
    if (block.empty()) continue;
    if (const auto range = what_if.range(block); range && range->last > range->first) return block;
  }
  return {};
}

RC_GTEST_PROP(TrialMovesTest, UndoLeavesNoTrace, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const Graph graph = test::random_graph(seed, {.calls = 40});
  const std::vector<NodeCost> costs = test::random_costs(graph, seed);
  const Dependencies dependencies(graph);
  WhatIf what_if(graph, dependencies, costs);
  const std::vector<NodeId> order(what_if.order().begin(), what_if.order().end());
  const Figures figures = what_if.figures();
  const std::vector<std::int64_t> profile = what_if.profile();
  std::mt19937_64 chance(seed);
  TrialMoves moves(what_if);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 5; ++i) {
      const std::vector<NodeId> block = pick_block(graph, what_if, chance);
      if (block.empty()) break;
      const LegalRange range = *what_if.range(block);
      RC_ASSERT(
          moves.move(block, range.first + chance() % (range.last - range.first + 1)).has_value());
    }
    moves.undo();
    RC_ASSERT(std::ranges::equal(what_if.order(), order));
    RC_ASSERT(what_if.figures() == figures);
    RC_ASSERT(what_if.profile() == profile);
  }
}

}  // namespace
}  // namespace jointer
