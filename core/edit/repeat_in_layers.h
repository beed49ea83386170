#pragma once

// Repeats an edit in the layers that are identical to the edited layer.

#include <string>
#include <vector>

#include "core/edit/edit.h"
#include "core/graph/dependencies.h"
#include "core/graph/layer_counterparts.h"

namespace jointer {

struct RepeatedEdit {
  // Repeats the given edit in the other layers. Its notes say what other ranks must also do, and
  // name the first layers that are left out.
  Edit edit;
  std::size_t layers = 0;             // number of layers that it changes
  std::vector<std::string> left_out;  // why each of the others is left out, in one sentence
};

// `edit` moves nodes of one layer, sets their policies but no checkpointed region, merges or splits
// their collectives, or replaces the operator of a call (call_edit.h). `before` is the graph before
// the edit, which `counterparts` describes. `after` is the graph after it, to which the result
// applies; `dependencies` are those of `after`.
//
// A block moves to the counterpart of its new neighbor: the node after the block or, if only the
// node before the block is in a layer, that node. If neither is in a layer, the block moves before
// the same node in every layer.
//
// Error (usage), in one sentence: the edit does something else, its nodes do not belong to exactly
// one layer, or every other layer is left out. Cost: a copy of the graph, and the moves; for edits
// of calls, that of making the edit in each layer.
Result<RepeatedEdit> repeat_in_layers(const Graph& before, const LayerCounterparts& counterparts,
                                      const Edit& edit, Graph after,
                                      const Dependencies& dependencies);

// Returns `edit` and `repeated` as one edit: "Move all_gather_7 to the best position in 32 layers".
Edit in_all_layers(Edit edit, const RepeatedEdit& repeated);

}  // namespace jointer
