#pragma once

// Opens captures of any format: the readers, and the choice of the reader for a file.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/capture/progress.h"
#include "core/graph/graph.h"

namespace jointer {

// A file's bytes, unpacked, under the name that messages use.
struct CaptureFile {
  std::string name;
  PaddedBytes bytes;
};

// One graph of a file or folder that may hold several.
struct GraphEntry {
  std::string name;  // "rank 0, 0/0, aot_joint_graph"
  std::optional<CaptureKind> kind;
  std::optional<std::int64_t> rank;
  std::size_t nodes = 0;  // 0 if counting would require reading
  std::string file;       // the file within a folder
  // Index, in the same list, of the graph from which a pass made this one, if known.
  std::optional<std::size_t> before = std::nullopt;
};

// One format. A reader recognizes its files by their content, lists the graphs in them (usually
// one), and reads one. To add a format, write these functions and add them to capture_readers();
// see CONTRIBUTING.md.
struct CaptureReader {
  std::string_view name;     // "native capture"
  std::string_view pattern;  // for file dialogs: "*.json *.json.zst"
  bool (*recognizes)(std::string_view bytes);
  Result<std::vector<GraphEntry>> (*list)(const CaptureFile& file);
  Result<Graph> (*read)(const CaptureFile& file, std::size_t index, const Progress& progress);
  // Adds one graph as a part, so that the halves of a pair may come from any two readers. `as` is
  // the requested kind; it is an error if the file states another one.
  Result<PartId> (*append)(Graph& graph, const CaptureFile& file, std::size_t index,
                           std::optional<CaptureKind> as, const Progress& progress);
};

// All readers, in the order in which they are tried.
std::span<const CaptureReader> capture_readers();

// The entry for display: "rank 0, 0/0, aot_joint_graph (joint, 271 nodes)".
std::string describe(const GraphEntry& entry);

// The graphs in a file or folder; in a TORCH_TRACE folder those of every log, by rank. Error
// (input): the file cannot be read or is of an unknown format.
Result<std::vector<GraphEntry>> list_graphs(const std::string& path);

struct OpenRequest {
  std::string path;  // `-` is standard input
  // The other half of a pair, or empty. If a file holds several graphs, the forward or backward of
  // the same compilation is opened.
  std::string backward;
  std::optional<std::size_t> index;  // of the graph, if the file holds several
  // Chooses among several graphs if there is no index. Called on the opening thread. If it is empty
  // or returns nullopt, opening fails.
  std::function<std::optional<std::size_t>(std::span<const GraphEntry> entries)> choose;
  Assumptions assumptions;
  Progress progress;
};

// Error (usage): there are several graphs and none is chosen, or the index is out of range. Error
// (input): as list_graphs, or the graph is invalid.
Result<Graph> open_graph(const OpenRequest& request);

// The request that opens the graph from which a pass made the one of `request`. Error (usage): the
// file does not say which graph that is.
Result<OpenRequest> request_before(const OpenRequest& request);

}  // namespace jointer
