#pragma once

#include <string>

namespace jointer::cli {

// One line on a terminal, written over and over; nothing elsewhere.
class ProgressLine {
 public:
  ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  // Whether anybody sees it: what is not cheap to say need not be said otherwise.
  [[nodiscard]] bool is_seen() const { return is_terminal_; }
  void show(const std::string& text);
  void clear();

 private:
  bool is_terminal_ = false;
  bool is_shown_ = false;
};

}  // namespace jointer::cli
