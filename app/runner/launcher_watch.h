#pragma once

#include <thread>

namespace jointer::runner {

// Ends this process if the launcher ends while the returned thread exists. Usually the kernel does
// this, but only for processes that the launcher itself has started. If a profiler runs between
// them, the launcher passes its process id in the environment (kLauncherVariable). Does nothing
// without that variable.
[[nodiscard]] std::jthread watch_launcher();

}  // namespace jointer::runner
