#pragma once

// What torch writes above statements. Private to core/capture/fx_*.cpp.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/graph/node.h"

namespace jointer::fx {

// `# Annotation: {'EP': 'compute'} ac_graph_id: 3 - MUST_SAVE File: m.py:12 in forward, code: x +
// y`, every part optional; `print_readable(additional_meta=...)` puts more in front.
struct Comment {
  bool is_known = false;  // it is of this kind at all
  std::string stack;      // as a traceback writes it; empty where the comment names no line
  std::string custom;     // JSON
  MemoryPolicy policy = MemoryPolicy::none;
  std::optional<std::int64_t> ac_graph_id, seq_nr;
  std::string_view partitioner_tag;
  std::optional<bool> autograd_backward;
};

Comment parse_comment(std::string_view text);

// It stands above calls that autograd traced for the backward.
bool is_of_backward(std::string_view text);

}  // namespace jointer::fx
