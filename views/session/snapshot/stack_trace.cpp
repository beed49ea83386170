#include "views/session/snapshot/stack_trace.h"

#include <charconv>

#include "core/base/trimmed.h"

namespace jointer::views {
namespace {

constexpr std::string_view kFile = "File \"", kLine = "\", line ", kIn = ", in ";

// Parses a line such as `File "a.py", line 3, in f`.
bool parse_frame(std::string_view line, StackFrame& frame) {
  if (!line.starts_with(kFile)) return false;
  line.remove_prefix(kFile.size());
  const auto end = line.find(kLine);
  if (end == std::string_view::npos) return false;
  frame = {.file = line.substr(0, end)};
  line.remove_prefix(end + kLine.size());
  const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), frame.line);
  if (error != std::errc()) return false;
  line.remove_prefix(static_cast<std::size_t>(rest - line.data()));
  if (line.starts_with(kIn)) frame.function = line.substr(kIn.size());
  return true;
}

}  // namespace

std::vector<StackFrame> parse_stack(std::string_view text) {
  std::vector<StackFrame> frames;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    StackFrame frame;
    if (parse_frame(line, frame))
      frames.push_back(frame);
    else if (!frames.empty() && frames.back().code.empty() && !line.starts_with('^'))
      frames.back().code = line;
  }
  return frames;
}

}  // namespace jointer::views
