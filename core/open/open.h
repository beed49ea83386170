#pragma once

// Opens graphs from files of any format, including workspaces.

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/capture/graph_reader.h"
#include "core/graph/graph.h"

namespace jointer {

// The readable formats, for help texts: "workspace, native capture, ..., or FX text".
std::string formats_text();

// Formats the entry for display: "rank 0, 0/0, aot_joint_graph (joint, 271 nodes)".
std::string describe(const GraphEntry& entry);

// The graphs in a file or folder; for a TORCH_TRACE folder, the graphs in all logs, ordered by
// rank. Error (input): the file cannot be read or its format is unknown.
Result<std::vector<GraphEntry>> list_graphs(const std::string& path);

// Opens the requested graph. Error (usage): there are several graphs but none was chosen, or the
// index is out of range. Error (input): same as list_graphs, or the graph is invalid.
Result<Graph> open_graph(const OpenRequest& request);

// Returns the request for the input of the pass that produced the graph that `request` opens. Error
// (usage): the file does not record which graph that is.
Result<OpenRequest> request_before(const OpenRequest& request);

}  // namespace jointer
