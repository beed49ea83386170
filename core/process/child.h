#pragma once

// A child process and everything that it starts: ended with this object, whatever it does.
//
// A Child belongs to one thread at a time. The kernel also ends it when the thread that started it
// ends (so that nothing outlives a program that was killed): start it on the thread that looks
// after it, or on one that lives as long.

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
  // The program (looked for on PATH if it has no slash) and its arguments; no shell reads them.
  std::vector<std::string> command;
  // Added to this process's environment, in place of what is there.
  std::vector<std::pair<std::string, std::string>> environment;
  std::string directory;  // to run in; empty: this process's
  // Standard input: nothing, or what `write` says, open until `close_input`.
  bool has_input = false;
  // Told every line of standard output, without its end; also a last one that has none. Called by
  // `pump` and `wait`, on their thread.
  std::function<void(std::string_view line)> on_line;
  // The same of standard error, whose last bytes are kept beside that.
  std::function<void(std::string_view line)> on_error_line;
  // A longer line is told in part, and the rest of it left out.
  std::size_t longest_line = std::size_t{256} << 20;
  std::size_t error_bytes = std::size_t{64}
                            << 10;  // of standard error that are kept: the last ones
  // It is killed when this has gone by.
  std::optional<std::chrono::milliseconds> deadline;
};

// How a child ended.
struct ChildEnd {
  int exit_code = 0;  // where `signal` is 0
  int signal = 0;
  bool timed_out = false;  // by its deadline

  [[nodiscard]] bool succeeded() const { return signal == 0 && exit_code == 0; }
};

// "exit code 3", "killed by signal 11 (SIGSEGV)".
std::string to_string(const ChildEnd& end);

class Child {
 public:
  // Error (run): there is no such program, or it cannot be started.
  static Result<Child> start(ChildOptions options);

  Child(Child&&) noexcept;
  Child& operator=(Child&&) noexcept;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  // Kills it if it still runs, and waits for that.
  ~Child();

  [[nodiscard]] std::int64_t pid() const;
  // Nothing while it runs, as far as `pump` has seen.
  [[nodiscard]] const std::optional<ChildEnd>& end() const;
  // The last of what it wrote to standard error.
  [[nodiscard]] const std::string& errors() const;
  // The last line of it that holds anything.
  [[nodiscard]] std::string last_error() const;

  // Queued; `pump` hands it on as fast as the child reads. Dropped once the child does not.
  void write(std::string_view text);
  void close_input();

  // Asks it to end (SIGTERM), and kills it if it has not after `grace`; `pump` sees to that. The
  // grace of a second call counts if it ends earlier.
  void terminate(std::chrono::milliseconds grace);
  // Ends it and all that it started, at once.
  void kill();

  // Waits until one of `children` has something to say, ends or must be ended, but no longer than
  // `timeout`, and takes it in. A signal handler that ran makes it return early. The callbacks must
  // not destroy a child. After a child's end all that it said has been told, and nothing that it
  // started runs on.
  static void pump(std::span<Child* const> children, std::chrono::milliseconds timeout);
  // Pumps until it has ended.
  ChildEnd wait();

 private:
  struct Process;
  explicit Child(std::unique_ptr<Process> process);
  std::unique_ptr<Process> process_;
};

}  // namespace jointer
