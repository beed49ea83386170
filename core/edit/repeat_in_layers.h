#pragma once

// Repeats an edit in the layers that are identical to the one that it was made in.

#include <string>
#include <vector>

#include "core/edit/edit.h"
#include "core/graph/dependencies.h"
#include "core/graph/layer_counterparts.h"

namespace jointer {

struct RepeatedEdit {
  // Repeats the first edit in the other layers. The notes say what other ranks must do too, and
  // name the first layers that are left out.
  Edit edit;
  std::size_t layers = 0;             // number of layers that it changes
  std::vector<std::string> left_out;  // why each of the others is left out, in one sentence
};

// `edit`: moves nodes of one layer, or sets their policies. `counterparts`: those in the graph before it.
// `after`: the graph with it, to which the result applies. `dependencies`: of that graph.
//
// A block moves to the counterpart of its new neighbor: of the node after it, or of the one before
// it if only that one is in a layer. If neither is, it moves before the same node in every layer.
//
// Error (usage), in one sentence: the edit does something else, its nodes belong to several layers,
// or every other layer is left out. Cost: a copy of the graph, and the moves.
Result<RepeatedEdit> repeat_in_layers(const LayerCounterparts& counterparts, const Edit& edit,
                                      Graph after, const Dependencies& dependencies);

// Both as one edit: "Move all_gather_7 to the best position in 32 layers".
Edit in_all_layers(Edit edit, const RepeatedEdit& repeated);

}  // namespace jointer
