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

// The graphs in a file, or in all files of a folder (such as TORCH_TRACE's) in the order of their
// names. A workspace counts as one graph; in a folder, workspaces and files from which no graph can
// be read are left out. Error (input): the file cannot be read, its format is unknown, or there is
// no graph.
Result<std::vector<GraphEntry>> list_graphs(const std::string& path);

// Opens the requested graph. Error (usage): there are several graphs but none was chosen, the index
// is out of range, a half of the pair was not found, or a workspace was given as the forward half.
// Error (input): same as list_graphs, or the graph is invalid. Error (usage or input): a file given
// as a half contains a graph of another kind. Error (cancelled): `request.progress` returned false.
// Other errors: same as Graph::assume.
Result<Graph> open_graph(const OpenRequest& request);

// `request` opens the output of a pass; returns a request that opens the input of this pass. Error
// (usage): the file does not contain the input, or `request.index` is out of range or missing
// although the file contains several graphs. Other errors: same as list_graphs.
Result<OpenRequest> request_before(const OpenRequest& request);

}  // namespace jointer
