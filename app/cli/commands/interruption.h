#pragma once

#include <csignal>

namespace jointer::cli {

// While this object exists, Ctrl+C (SIGINT), SIGTERM and SIGHUP are recorded instead of ending the
// program. Only one such object may exist at a time.
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
