#pragma once

#include <QString>

#include "views/sac/sac_state.h"

namespace jointer::views {

// Writes the pair of a state's plan where the program keeps its data, under a name that says which
// plan it is: the same plan gives the same file. On a working thread. Error (usage): as emit_pair;
// (input): the file could not be written.
Result<QString> write_pair(const SacState& state, const QString& title);
// The same of a graph that is there.
Result<QString> write_graph_file(const Graph& graph, const QString& title);

}  // namespace jointer::views
