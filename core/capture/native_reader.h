#pragma once

// Reads version 1 of the native capture format (`jointer-capture`): a JSON document with one
// capture or a pair. Unknown members are kept, so that writing reproduces the document.

#include <string_view>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/capture/progress.h"
#include "core/graph/graph.h"

namespace jointer {

// True if the bytes begin like a native capture, which is a JSON object. Does not check the format.
bool is_native_capture(std::string_view bytes);

// Reads a capture of any kind but `stages` (native_stages.h). A document of kind `pair` becomes one
// graph with two parts. `name` is the file name for messages. Error (input): the capture is
// invalid; the message gives the file, the location if it is known, and what is wrong there. Error
// (cancelled): `progress` returned false.
Result<Graph> read_native(std::string_view name, const PaddedBytes& bytes,
                          const Progress& progress = {});

// Adds a capture as a new part of a graph. The other parts may come from other files. Call
// `complete` afterwards. Errors: same as read_native. It is also an error (input) if the document
// is itself a pair.
Result<PartId> append_native(Graph& graph, std::string_view name, const PaddedBytes& bytes,
                             const Progress& progress = {});

}  // namespace jointer
