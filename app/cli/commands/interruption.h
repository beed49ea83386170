#pragma once

#include <csignal>

namespace jointer::cli {

// While it lives, Ctrl+C (and SIGTERM, SIGHUP) do not end the program but are recorded. Only one
// may live at a time.
class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();

  [[nodiscard]] static bool has_happened();

 private:
  struct sigaction before_[3]{};
};

}  // namespace jointer::cli
