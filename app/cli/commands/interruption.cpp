#include "app/cli/commands/interruption.h"

#include <cstddef>

namespace jointer::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
// Global, since a signal handler can reach only globals.
volatile std::sig_atomic_t happened = 0;

}  // namespace

Interruption::Interruption() {
  happened = 0;
  struct sigaction action {};
  action.sa_handler = [](int) { happened = 1; };
  // SA_RESTART is not set, so that a signal interrupts a blocking call.
  for (std::size_t i = 0; i < 3; ++i) ::sigaction(kSignals[i], &action, &before_[i]);
}

Interruption::~Interruption() {
  for (std::size_t i = 0; i < 3; ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
}

bool Interruption::has_happened() {
  return happened != 0;
}

}  // namespace jointer::cli
