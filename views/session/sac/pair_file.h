#pragma once

#include <QString>

#include "core/capture/graph_reader.h"
#include "views/session/sac/sac_state.h"

namespace jointer::views {

// Writes graphs to the application's data folder. The file names contain a hash of the graph, so
// equal graphs with the same title share a file. The returned request has those of the graph's
// assumptions that hold for the file. The functions run on worker threads. Each of them also fails
// with Error (input) if the folder could not be created, and with Error (run) if a file could not
// be written.

// Writes the pair of a state's plan, in the plan's order. Errors: see ordered_graph.
Result<OpenRequest> write_pair(const SacState& state, const QString& title);
// Joins a pair and writes the joint graph, tagged so that partitioning it reproduces the pair's
// plan. Error (usage): `pair` is not a pair, or its halves do not fit together.
Result<OpenRequest> write_joint(const Graph& pair, const QString& title);

// The file of a graph, and the recipe with its edits; `recipe` is empty if there are no edits.
struct GraphFiles {
  OpenRequest graph;
  QString recipe;
};
// Writes `graph`, and a recipe of the edits that lead from it to `after`.
Result<GraphFiles> write_graph_and_edits(const Graph& graph, const Graph& after,
                                         const std::vector<Edit>& edits, const QString& title);

}  // namespace jointer::views
