#pragma once

// Reads the native capture format, version 1 (`jointer-capture`): one JSON document, or a pair of
// them. Unknown members are kept, so that writing reproduces the document.

#include <string_view>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/capture/progress.h"
#include "core/graph/graph.h"

namespace jointer {

// True if the bytes look like a native capture: a JSON object that names the format near its start.
bool is_native_capture(std::string_view bytes);

// Reads a capture of any kind; a document of kind `pair` becomes one graph of two parts. `name` is
// the file's, for messages. Error (input): the file, the place and what is wrong there;
// (cancelled).
Result<Graph> read_native(std::string_view name, const PaddedBytes& bytes,
                          const Progress& progress = {});

// Adds a capture as a new part of a graph whose other parts may come from other files. Call
// `complete` afterwards. Error: as read_native; or the document is itself a pair.
Result<PartId> append_native(Graph& graph, std::string_view name, const PaddedBytes& bytes,
                             const Progress& progress = {});

}  // namespace jointer
