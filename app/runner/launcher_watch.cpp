#include "app/runner/launcher_watch.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>

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

LauncherWatch::LauncherWatch() {
  const auto launcher = number_of<int>(environment_variable(kLauncherVariable));
  if (launcher && *launcher > 0) thread_ = std::thread([this, pid = *launcher] { watch(pid); });
}

LauncherWatch::~LauncherWatch() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void LauncherWatch::watch(int launcher) {
  constexpr std::chrono::milliseconds kInterval{100};
  const FileDescriptor process = open_process(launcher);
  std::unique_lock lock(mutex_);
  do {
    // The kernel then ends the processes that this one has started.
    if (has_ended(launcher, process)) ::kill(::getpid(), SIGKILL);
  } while (!changed_.wait_for(lock, kInterval, [this] { return stop_; }));
}

}  // namespace jointer::runner
