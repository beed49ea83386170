#pragma once

#include <string>

namespace jointer::cli {

// A line on a terminal that is overwritten in place. Prints nothing if standard error is not a
// terminal.
class ProgressLine {
 public:
  ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  // True if `show` prints its text. If not, callers can skip text that is expensive to compute.
  [[nodiscard]] bool is_seen() const { return is_terminal_; }
  void show(const std::string& text);
  void clear();

 private:
  bool is_terminal_ = false;
  bool is_shown_ = false;
};

}  // namespace jointer::cli
