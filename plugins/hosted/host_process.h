#pragma once

// Sends one request to a host, a separate process whose failures cannot harm this one.

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/base/json_text.h"
#include "core/process/python.h"
#include "plugins/hosted/host_limits.h"
#include "plugins/hosted/message.h"

namespace jointer {

struct HostQuestion {
  ProgramCommand program;  // reads one line from standard input and replies with messages
  OrderedJson request;     // an object; `protocol` and `memory_bytes` are added
  HostLimits limits;
  // These functions are called on the thread that calls ask_host, before it returns. `log` receives
  // the lines of the host's standard error, which include the output of passes; `tell` receives all
  // valid messages except the last one, `done` or `failed`.
  std::function<void(std::string_view line)> log;
  std::function<void(const HostMessage& message)> tell;
  // Called every 20 ms, and after each output of the host. If it returns true, the host is killed
  // immediately.
  std::function<bool()> is_cancelled;
};

// Returns once the host reports that it is done, after ending all processes that the host started.
// Error (usage, run, cancelled): the host could not be started, the request failed (for example,
// the pass raised an exception), the host sent an invalid message, ended without an answer, or
// exceeded its deadline or memory limit, or `is_cancelled` returned true; the message is meant to
// follow the name of the pass.
Result<void> ask_host(const HostQuestion& question);

}  // namespace jointer
