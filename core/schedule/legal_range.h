#pragma once

// Where a block of nodes may be moved to.
//
// A block is one node or several of one part; whatever order they are named in, they keep that of
// the graph among themselves and stand side by side afterwards. A gap is a place in the order
// without the block: gap g is right before the g-th of the remaining nodes.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/base/result.h"
#include "core/graph/dependencies.h"
#include "core/graph/graph.h"

namespace jointer {

struct LegalRange {
  // The block may go into every gap of [first, last].
  std::size_t first = 0, last = 0;
  // Where it stands now; of a block that is not contiguous, where its first node stands.
  std::size_t current = 0;
  // What holds it: `after` must run before the block's `held_after`, `before` must run after
  // `held_before`. None where only placeholders and outputs hold it.
  NodeId after, held_after, before, held_before;
  DependencyKind after_kind = DependencyKind::data, before_kind = DependencyKind::data;
};

// Error (usage), in one sentence: a placeholder, a constant, an output or a removed node is among
// the nodes, they are of both halves of a pair, or what stands between them must stay there. Cost:
// the dependencies of the block, whatever the graph's size.
Result<LegalRange> legal_range(const Graph& graph, const Dependencies& dependencies,
                               std::span<const NodeId> block);
// The same in another order than the graph's: `positions` are those of its nodes in it, by id; of a
// node that is not in it, a number beyond.
Result<LegalRange> legal_range(const Graph& graph, const Dependencies& dependencies,
                               std::span<const NodeId> block,
                               std::span<const std::uint32_t> positions);

// "Held by all_gather_77: earlier, wait_tensor_91 would read it before it exists." Empty if
// nothing holds the block on that side.
std::string earliest_reason(const Graph& graph, const LegalRange& range);
std::string latest_reason(const Graph& graph, const LegalRange& range);

}  // namespace jointer
