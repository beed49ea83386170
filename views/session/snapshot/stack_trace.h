#pragma once

#include <string_view>
#include <vector>

namespace jointer::views {

// One frame of a Python traceback; `code` is the source line, or empty if the text has none.
struct StackFrame {
  std::string_view file, function, code;
  int line = 0;
};

// The frames of a traceback in FX's format, outermost first. Skips other lines. The frames are
// views into `text`.
std::vector<StackFrame> parse_stack(std::string_view text);

}  // namespace jointer::views
