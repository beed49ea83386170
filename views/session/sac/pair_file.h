#pragma once

#include <QString>

#include "views/session/sac/sac_state.h"

namespace jointer::views {

// Builds the pair for a state's plan, in the plan's order, and writes it to the application's data
// folder. The file name contains a hash of the pair, so equal plans share a file. Runs on a worker
// thread. Error (usage), (run): see ordered_graph; (input): the file could not be written.
Result<QString> write_pair(const SacState& state, const QString& title);
// Joins a pair and writes the joint graph in the same way, tagged so that partitioning it
// reproduces the pair's plan. Error (usage): the halves do not fit together; (input): the file
// could not be written.
Result<QString> write_joint(const Graph& pair, const QString& title);
// Writes an existing graph in the same way.
Result<QString> write_graph_file(const Graph& graph, const QString& title);

// The file of a graph, and the recipe with its edits; `recipe` is empty if there are none.
struct GraphFiles {
  QString capture, recipe;
};
// Writes `graph`, and a recipe of the edits that lead from it to `after`, in the same way.
Result<GraphFiles> write_graph_and_edits(const Graph& graph, const Graph& after,
                                         const std::vector<Edit>& edits, const QString& title);

}  // namespace jointer::views
