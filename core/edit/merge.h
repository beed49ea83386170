#pragma once

// Several collectives of one process group as one, and one as several. The edits hold primitive
// changes alone, so torch can replay them; what the program computes stays the same bit by bit (but
// for sums over more than two ranks, which a note says). How is at the top of merge.cpp.

#include <span>

#include "core/edit/edit.h"

namespace jointer {

// A bucket of all_gather_into_tensor, reduce_scatter_tensor or all_reduce, at least two of them,
// each with one wait. Error (usage), in one sentence: they are not alike, have sizes that are not
// known, or one's result is used before another's input exists.
Result<Edit> merge_collectives(const Graph& graph, std::span<const NodeId> starts);

// The members of a bucket that merge_collectives made, or of a coalesced collective, each a
// collective of its own again. Error (usage): it is neither.
Result<Edit> split_collective(const Graph& graph, NodeId start);

}  // namespace jointer
