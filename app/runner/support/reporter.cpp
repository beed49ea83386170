#include "app/runner/support/reporter.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace jointer::runner {

Reporter::Reporter() : descriptor_(::dup(STDOUT_FILENO)) {
  // If the listener exits, writing then fails instead of killing this process.
  ::signal(SIGPIPE, SIG_IGN);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

Reporter::~Reporter() {
  ::close(descriptor_);
}

void Reporter::report(const RankEvent& event) {
  const std::string line = write_event(event) + "\n";
  ++count_;
  const std::scoped_lock lock(mutex_);
  // If the listener has exited, the run still continues.
  for (std::size_t written = 0; written < line.size();) {
    const ssize_t count = ::write(descriptor_, line.data() + written, line.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    written += static_cast<std::size_t>(count);
  }
}

void Reporter::stage(std::string name, std::int64_t done, std::int64_t total) {
  using namespace std::chrono_literals;
  {
    const std::scoped_lock lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (name == last_stage_ && done > 0 && now - last_time_ < 50ms) {
      ++count_;
      return;
    }
    last_stage_ = name;
    last_time_ = now;
  }
  report(RankProgress{.stage = std::move(name), .done = done, .total = total});
}

}  // namespace jointer::runner
