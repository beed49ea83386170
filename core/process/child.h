#pragma once

// Runs a child process. Destroying the object kills the child and every process that it started.
//
// Only one thread may use a Child at a time. The kernel kills the child when the thread that
// started it exits, so that no child survives a killed program. Therefore, start the child on the
// thread that pumps it or on another thread that outlives the child.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace jointer {

struct ChildOptions {
  // The program (looked up on PATH if it contains no slash) and its arguments. No shell is
  // involved.
  std::vector<std::string> command;
  // Added to the environment of this process, replacing variables with the same names.
  std::vector<std::pair<std::string, std::string>> environment;
  std::string directory;  // working directory; empty: same as this process
  // If true, the child's standard input consists of the texts passed to `write` before
  // `close_input` is called. If false, it is empty.
  bool has_input = false;
  // Called with each line of standard output, without its line break, including an unterminated
  // last line. Runs on the thread that calls `pump` or `wait`.
  std::function<void(std::string_view line)> on_line;
  // The same for standard error, whose last bytes are also available from `errors`.
  std::function<void(std::string_view line)> on_error_line;
  // The maximum length of a line, in bytes. The rest of a longer line is discarded.
  std::size_t max_line_bytes = std::size_t{256} << 20;
  std::size_t error_bytes = std::size_t{64} << 10;  // the maximum size of `errors`
  // The maximum run time, after which the child is killed.
  std::optional<std::chrono::milliseconds> deadline;
};

// How a child ended.
struct ChildEnd {
  int exit_code = 0;  // valid if `signal` is 0 and the end is known
  int signal = 0;
  bool timed_out = false;  // killed at the deadline
  // The exit status is lost: other code in this process reaped the child, or ignored SIGCHLD after
  // `start`.
  bool is_unknown = false;

  [[nodiscard]] bool succeeded() const { return signal == 0 && exit_code == 0 && !is_unknown; }
};

// Returns, for example, "exit code 3" or "killed by signal 11 (SIGSEGV)".
std::string to_string(const ChildEnd& end);
// "dot failed (exit code 1): no such font", for a program that did not succeed; without the colon
// and what follows if `last_error`, the last line that it printed to standard error, is empty.
std::string failure_text(std::string_view program, const ChildEnd& end,
                         std::string_view last_error);

class Child {
 public:
  // Error (run): the program does not exist or cannot be started.
  static Result<Child> start(ChildOptions options);

  Child(Child&&) noexcept;
  Child& operator=(Child&&) noexcept;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  // Kills the child if it is still running, and waits until it has ended.
  ~Child();

  [[nodiscard]] std::int64_t pid() const;
  // nullopt until `pump` has noticed the end of the child.
  [[nodiscard]] const std::optional<ChildEnd>& end() const;
  // The last bytes that the child wrote to standard error.
  [[nodiscard]] const std::string& errors() const;
  // The last line of `errors` that is not blank.
  [[nodiscard]] std::string last_error() const;

  // Writes as much of the text as the pipe accepts, and queues the rest for `pump`. Discards the
  // text after `close_input`, or once the child has closed its standard input.
  void write(std::string_view text);
  void close_input();

  // Sends SIGTERM to the child's process group. If the child is still running after `grace`, `pump`
  // kills the group. If this is called several times, the earliest deadline applies.
  void terminate(std::chrono::milliseconds grace);
  // Immediately kills the child and its process group. `pump` then kills everything else that the
  // child started.
  void kill();

  // Waits up to `timeout` until one of `children` produces output, accepts queued input, ends or
  // reaches its deadline, and handles that. May return early, for example if a signal handler ran.
  // Callbacks must not destroy a child.
  // When a child is reported as ended, all of its output has been reported, and no process that it
  // started is still running.
  static void pump(std::span<Child* const> children, std::chrono::milliseconds timeout);
  // Calls `pump` until the child has ended.
  ChildEnd wait();

 private:
  struct Process;
  explicit Child(std::unique_ptr<Process> process);
  std::unique_ptr<Process> process_;
};

}  // namespace jointer
