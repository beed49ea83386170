#pragma once

// Parses the comments that torch prints above statements. Private to core/capture/fx_*.cpp.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/graph/node.h"

namespace jointer::fx {

// A comment such as `# Annotation: {'EP': 'compute'} ac_graph_id: 3 - MUST_SAVE File: m.py:12 in
// forward, code: x`. Every part is optional. `print_readable(additional_meta=...)` prepends further
// metadata.
struct Comment {
  bool is_known = false;  // false if torch did not write it
  std::string stack;      // formatted as in a traceback; empty if the comment names no line
  std::string custom;     // JSON
  MemoryPolicy policy = MemoryPolicy::none;
  std::optional<std::int64_t> ac_graph_id, seq_nr;
  std::string_view partitioner_tag;
  std::optional<bool> autograd_backward;
};

Comment parse_comment(std::string_view text);

// True if the comment says that the calls below it are backward calls.
bool is_of_backward(std::string_view text);

}  // namespace jointer::fx
