#include "app/runner/launcher_watch.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <stop_token>

#include "core/base/environment.h"
#include "core/base/number_text.h"
#include "core/bench/nsys.h"
#include "core/process/open_process.h"

namespace jointer::runner {
namespace {

bool has_ended(pid_t pid, const FileDescriptor& process) {
  if (!process) return ::kill(pid, 0) != 0 && errno == ESRCH;
  pollfd polled{process.get(), POLLIN, 0};
  return ::poll(&polled, 1, 0) > 0;
}

}  // namespace

std::jthread watch_launcher() {
  const auto launcher = number_of<int>(environment_variable(kLauncherVariable));
  if (!launcher || *launcher <= 0) return {};
  return std::jthread([pid = *launcher](const std::stop_token& stop) {
    constexpr std::chrono::milliseconds kInterval{100};
    const FileDescriptor process = open_process(pid);
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    do {
      // When this process ends, the kernel ends the processes that it has started.
      if (has_ended(pid, process)) ::kill(::getpid(), SIGKILL);
    } while (!changed.wait_for(lock, stop, kInterval, [&] { return stop.stop_requested(); }));
  });
}

}  // namespace jointer::runner
