#pragma once

// Asks a host one thing: a process of its own, that whatever it does cannot harm this one.

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/json_text.h"
#include "core/process/python.h"
#include "plugins/hosted/message.h"

namespace jointer {

struct HostLimits {
  std::optional<std::chrono::milliseconds> deadline = std::chrono::minutes(10);
  std::int64_t memory_bytes = 0;  // 0: default_memory_limit()
};

struct HostQuestion {
  ProgramCommand program;  // reads one line of standard input and answers
  OrderedJson request;     // an object; `protocol` and `memory_bytes` are added
  HostLimits limits;
  // Called on the thread that asks, while it does. What the host writes beside its messages: a
  // line of its standard error, where what a pass prints goes too.
  std::function<void(std::string_view line)> log;
  std::function<void(const HostMessage& message)> tell;
  // Asked every few milliseconds; true ends the host at once.
  std::function<bool()> is_cancelled;
};

// Returns when the host says that it is done; nothing that it started runs on. Error (usage, run,
// cancelled), in one sentence that goes on after the name of the pass: what it raised, the signal
// that ended it, its deadline, its memory.
Result<void> ask_host(const HostQuestion& question);

}  // namespace jointer
