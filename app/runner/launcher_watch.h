#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace jointer::runner {

// Ends this process when the launcher ends. Usually the kernel does this, but only for processes
// that the launcher itself has started: with a profiler between them, the launcher names its process
// in the environment (kLauncherVariable). Does nothing without that variable.
class LauncherWatch {
 public:
  LauncherWatch();
  ~LauncherWatch();
  LauncherWatch(const LauncherWatch&) = delete;
  LauncherWatch& operator=(const LauncherWatch&) = delete;

 private:
  void watch(int launcher);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace jointer::runner
