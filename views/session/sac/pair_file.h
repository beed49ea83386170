#pragma once

#include <QString>

#include "views/session/sac/sac_state.h"

namespace jointer::views {

// Writes the pair of a state's plan to the program's data folder. The file name identifies the
// plan, so the same plan gives the same file. Runs on a working thread. Error (usage): see
// emit_pair; (input): the file could not be written.
Result<QString> write_pair(const SacState& state, const QString& title);
// The same for an existing graph.
Result<QString> write_graph_file(const Graph& graph, const QString& title);

}  // namespace jointer::views
