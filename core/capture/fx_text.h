#pragma once

// Reads FX graphs from text: what `GraphModule.print_readable()` prints in any of its forms, a
// module's generated code, and the listing `print(graph)`. What the text lacks is derived and said
// in Graph::facts.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/capture/progress.h"
#include "core/graph/graph.h"

namespace jointer {

// Whether the bytes hold an FX graph as text.
bool is_fx_text(std::string_view bytes);

// A text, and what is known about it from elsewhere.
struct FxText {
  std::string_view file;  // for messages
  std::string_view text;
  std::size_t first_number = 1;  // the number of its first line in the file
};

struct FxTextEntry {
  std::string name;  // of the class, may be empty
  CaptureKind kind = CaptureKind::forward;
  std::size_t nodes = 0;
};

// The graphs that are not part of another. Error (input): a text that is no graph.
Result<std::vector<FxTextEntry>> list_fx_text(const FxText& source);

struct FxTextOptions {
  std::size_t index = 0;            // of list_fx_text
  std::optional<CaptureKind> kind;  // guessed from the placeholders' names if not given
  std::string name;                 // of the part
  Progress progress;
};

// Adds one graph as a new part; `complete` comes after. Error (input): the file, the line and what
// is wrong.
Result<PartId> append_fx_text(Graph& graph, const FxText& source, const FxTextOptions& options);

}  // namespace jointer
