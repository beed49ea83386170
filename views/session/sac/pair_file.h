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

}  // namespace jointer::views
