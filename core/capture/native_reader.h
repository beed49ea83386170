#pragma once

// Reads the native capture format, version 1 (`jointer-capture`): one JSON document, or a pair of
// them. What this version does not know is kept, so that writing gives the same document again.

#include <string_view>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/capture/progress.h"
#include "core/graph/graph.h"

namespace jointer {

// Whether the bytes look like a native capture (a JSON object that names the format early on).
bool is_native_capture(std::string_view bytes);

// A capture of any kind; a document of kind `pair` becomes one graph of two parts. `name` is the
// file's, for messages. Error: one line with the file, the place and what is wrong.
Result<Graph> read_native(std::string_view name, const PaddedBytes& bytes,
                          const Progress& progress = {});

// Adds a capture as a new part of a graph that other parts may come from other files for;
// `complete` comes after. Error: as above, or the document is a pair by itself.
Result<PartId> append_native(Graph& graph, std::string_view name, const PaddedBytes& bytes,
                             const Progress& progress = {});

}  // namespace jointer
