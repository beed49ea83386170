#pragma once

// Reads FX graphs from text: the output of `GraphModule.print_readable()` in any of its forms, the
// generated code of a module, and the listing that `print(graph)` prints. Derives what the text
// lacks and records it in Graph::facts.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/capture/progress.h"
#include "core/graph/graph.h"

namespace jointer {

// True if the bytes look like text that contains an FX graph.
bool is_fx_text(std::string_view bytes);

// FX text and its origin.
struct FxText {
  std::string_view file;  // for messages
  std::string_view text;
  std::size_t first_number = 1;  // the number of its first line in the file
};

struct FxTextEntry {
  std::string name;  // the class name; may be empty
  CaptureKind kind = CaptureKind::forward;
  std::size_t nodes = 0;
};

// Lists the graphs that are not nested in another. Error (input): the text is not UTF-8, or
// contains no graph, or one that cannot be parsed.
Result<std::vector<FxTextEntry>> list_fx_text(const FxText& source);

struct FxTextOptions {
  std::size_t index = 0;            // in the result of list_fx_text
  std::optional<CaptureKind> kind;  // guessed from placeholders' names and comments if not given
  std::string name;                 // of the part
  Progress progress;
};

// Adds one graph as a new part. Call `complete` afterwards. Error (input): the text is not a valid
// graph; the message gives the file, the line, and what is wrong there. Error (usage): there is no
// graph with this index. Error (cancelled): `progress` returned false.
Result<PartId> append_fx_text(Graph& graph, const FxText& source, const FxTextOptions& options);

}  // namespace jointer
