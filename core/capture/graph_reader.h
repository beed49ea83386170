#pragma once

// The interface of the readers of graph files. Each reads one format.

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

// The uncompressed bytes of a file, and its name for messages.
struct CaptureFile {
  std::string name;
  PaddedBytes bytes;
};

// One graph of a file or folder that may contain several.
struct GraphEntry {
  std::string name;  // "rank 0, 0/0, aot_joint_graph"
  std::optional<CaptureKind> kind;
  std::optional<std::int64_t> rank;
  std::size_t nodes = 0;  // 0 if counting requires reading the file
  std::string file;       // the file that contains it
  // The index, in the same list, of the graph from which a pass made this one, if known.
  std::optional<std::size_t> before = std::nullopt;
};

struct OpenRequest {
  std::string path;  // `-` is standard input
  // If not empty, the file with the backward half of a pair; `path` then contains the forward half.
  // If the backward file contains several backward graphs, that of the same compilation is
  // preferred.
  std::string backward;
  std::optional<std::size_t> index;  // of the graph, if the file holds several
  // Chooses among several graphs if `index` and `backward` are not set. Called on the thread that
  // opens the file. If the function is empty or returns nullopt, opening fails.
  std::function<std::optional<std::size_t>(std::span<const GraphEntry> entries)> choose;
  Assumptions assumptions;
  Progress progress;
  // True if the request opens the capture that a workspace refers to. Workspaces are then refused,
  // since a workspace could refer to itself.
  bool is_of_workspace = false;
};

// One file format. A reader recognizes its files by their content or, if `suffix` is set, by their
// name; it lists the graphs in them (usually one), and reads a graph. To add a format, define a
// reader in its own file and add it to the table in core/open/readers.cpp; see CONTRIBUTING.md.
struct GraphReader {
  std::string_view name;     // "TORCH_TRACE log"
  std::string_view title;    // in help texts: "TORCH_TRACE log or folder"
  std::string_view pattern;  // for file dialogs: "*.log *.log.zst"
  // If not empty, a file with this suffix has this format, whatever its content.
  std::string_view suffix = {};
  bool (*recognizes)(std::string_view bytes) = nullptr;

  Result<std::vector<GraphEntry>> (*list)(const CaptureFile& file) = nullptr;
  // Adds one graph as a part, so that the halves of a pair can come from different readers. `as` is
  // the requested kind; it is an error if the file states a different kind.
  Result<PartId> (*append)(Graph& graph, const CaptureFile& file, std::size_t index,
                           std::optional<CaptureKind> as, const Progress& progress) = nullptr;
  // Reads one graph. Set only for formats whose graphs may have several parts.
  Result<Graph> (*read)(const CaptureFile& file, std::size_t index,
                        const Progress& progress) = nullptr;

  // Used instead of `list`, `append` and `read` for files that refer to a capture. `request` is the
  // request to open `file`.
  Result<Graph> (*open)(const CaptureFile& file, const OpenRequest& request) = nullptr;
};

// Reads the graph `index` with `reader.read` or, if that is null, as a graph with one part. Errors:
// those of the reader. Error (input): the graph is not valid.
Result<Graph> read_graph(const GraphReader& reader, const CaptureFile& file, std::size_t index,
                         const Progress& progress = {});

}  // namespace jointer
