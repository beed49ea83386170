#pragma once

#include <QString>

#include "views/session/sac/sac_state.h"

namespace jointer::views {

// Builds the pair for a state's plan, in the plan's order, and writes it to the application's data
// folder. The file name identifies the plan: equal plans share a file. Runs on a worker thread.
// Error (usage), (run): see ordered_graph; (input): the file could not be written.
Result<QString> write_pair(const SacState& state, const QString& title);
// Joins a pair and writes its joint graph in the same way, tagged so that its plan is that of the
// pair. Error (usage): the halves do not fit together; (input): the file could not be written.
Result<QString> write_joint(const Graph& pair, const QString& title);
// Writes an existing graph in the same way.
Result<QString> write_graph_file(const Graph& graph, const QString& title);

// A graph in a file, and edits of it in a recipe; no recipe if there are no edits.
struct GraphFiles {
  QString capture, recipe;
};
// Writes `graph`, and the edits that lead from it to `after`, in the same way.
Result<GraphFiles> write_graph_and_edits(const Graph& graph, const Graph& after,
                                         const std::vector<Edit>& edits, const QString& title);

}  // namespace jointer::views
