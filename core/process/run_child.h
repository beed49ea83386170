#pragma once

#include <functional>
#include <string>

#include "core/base/result.h"
#include "core/process/child.h"

namespace jointer {

struct FinishedChild {
  ChildEnd end;
  std::string last_error;  // the last line of standard error that is not blank
};

// Starts a child process and waits until it has ended. Its callbacks run on this thread. If
// `is_cancelled` returns true, which is checked several times a second, the child and everything
// that it started are killed. Error (run): the child cannot be started. Error (cancelled): it was
// cancelled; no process is left.
Result<FinishedChild> run_child(ChildOptions options, const std::function<bool()>& is_cancelled);

}  // namespace jointer
