#pragma once

// Opening whatever a person has: the readers, and which one a file is for.

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
  std::size_t nodes = 0;  // 0 where counting would mean reading
  std::string file;       // which file of a folder
  // Which graph of the same list this one was made from by a pass, where that is known.
  std::optional<std::size_t> before = std::nullopt;
};

// One format. A reader recognizes its files by their content, lists the graphs in them (one, for
// most), and reads one. To add a format: write these functions and add it to capture_readers();
// CONTRIBUTING.md walks through it.
struct CaptureReader {
  std::string_view name;     // "native capture"
  std::string_view pattern;  // for file dialogs: "*.json *.json.zst"
  bool (*recognizes)(std::string_view bytes);
  Result<std::vector<GraphEntry>> (*list)(const CaptureFile& file);
  Result<Graph> (*read)(const CaptureFile& file, std::size_t index, const Progress& progress);
  // Adds one graph as a part, so that the halves of a pair may come from any two readers. `as` is
  // the kind it is asked for; where the file itself says another one, that is an error.
  Result<PartId> (*append)(Graph& graph, const CaptureFile& file, std::size_t index,
                           std::optional<CaptureKind> as, const Progress& progress);
};

// In the order in which they are asked.
std::span<const CaptureReader> capture_readers();

// "rank 0, 0/0, aot_joint_graph (joint, 271 nodes)".
std::string describe(const GraphEntry& entry);

// Graphs in a file or a folder (a TORCH_TRACE folder: those of every log, by rank). Error (input):
// unreadable, or of an unknown format.
Result<std::vector<GraphEntry>> list_graphs(const std::string& path);

struct OpenRequest {
  std::string path;  // `-` is standard input
  // The other half of a pair, or empty. Where a file holds several graphs, the forward or backward
  // of the same compilation is taken.
  std::string backward;
  std::optional<std::size_t> index;  // which graph of several
  // Asked, on the thread that opens, which of several graphs is meant where no index says it. No
  // answer leaves it at an error.
  std::function<std::optional<std::size_t>(std::span<const GraphEntry> entries)> choose;
  Assumptions assumptions;
  Progress progress;
};

// Error (usage): several graphs and none chosen, or one that is not there. Error (input): as above.
Result<Graph> open_graph(const OpenRequest& request);

// What to open to see the graph that a pass made the one of `request` from. Error (usage): the file
// does not say which one that is.
Result<OpenRequest> request_before(const OpenRequest& request);

}  // namespace jointer
