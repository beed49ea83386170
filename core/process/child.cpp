// Runs child processes: polls their output, enforces deadlines and, when a child ends, kills
// everything that it started.
//
// Terms
//   group   the child's process group: the child and its descendants, except those that start a
//           group themselves.
//   mark    an environment variable with a value that is unique to the child. It identifies
//           descendants that left the group.
//
// A process that has ended keeps its PID until it is reaped. The end is therefore detected without
// reaping (WNOWAIT), then the rest of the group is killed, and the child is reaped last. In this
// order, a signal can never reach an unrelated process group that reuses the ID.

#include "core/process/child.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>

#include "core/process/open_process.h"
#include "core/process/spawn.h"

namespace jointer {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr const char* kMark = "JOINTER_CHILD";
constexpr std::size_t kBlock = std::size_t{64} << 10;
// Maximum number of blocks to read from each of a child's two outputs before the other children get
// a turn.
constexpr int kBlocksAtOnce = 16;
// The interval at which children are checked for their end, on kernels without pidfd, and at which
// killing a child is retried.
constexpr milliseconds kTick{10};

std::string new_mark() {
  static std::atomic<std::uint64_t> count{0};
  return fmt::format("{}.{}.{}", ::getpid(), Clock::now().time_since_epoch().count(), ++count);
}

// Blocks SIGPIPE, so that writing to a child that has ended fails instead of killing this process.
class NoBrokenPipe {
 public:
  NoBrokenPipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  NoBrokenPipe(const NoBrokenPipe&) = delete;
  NoBrokenPipe& operator=(const NoBrokenPipe&) = delete;
  ~NoBrokenPipe() {
    sigset_t pending;
    sigpending(&pending);
    int signal = 0;
    if (!was_pending_ && sigismember(&pending, SIGPIPE) == 1) sigwait(&pipe_, &signal);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{}, before_{};
  bool was_pending_ = false;
};

using OnLine = std::function<void(std::string_view line)>;

// Splits blocks of output into lines.
class LineSplitter {
 public:
  void take(std::string_view block, const OnLine& on_line, std::size_t longest) {
    while (!block.empty()) {
      const std::size_t end = block.find('\n');
      const std::string_view piece = block.substr(0, end);
      if (end != std::string_view::npos && line_.empty() && piece.size() <= longest) {
        tell(piece, on_line);
      } else {
        line_ += piece.substr(0, longest - line_.size());
        has_begun_ = true;
        if (end != std::string_view::npos) finish(on_line);
      }
      if (end == std::string_view::npos) return;
      block.remove_prefix(end + 1);
    }
  }
  // Reports the line that has begun, if there is one.
  void finish(const OnLine& on_line) {
    if (has_begun_) tell(line_, on_line);
    line_.clear();
    has_begun_ = false;
  }

 private:
  static void tell(std::string_view line, const OnLine& on_line) {
    if (on_line) on_line(line);
  }

  std::string line_;
  bool has_begun_ = false;
};

}  // namespace

std::string to_string(const ChildEnd& end) {
  if (end.timed_out) return "killed at its deadline";
  if (end.is_unknown)
    return "exit code unknown, because other code in this process reaped the child or ignored "
           "SIGCHLD";
  if (end.signal == 0) return fmt::format("exit code {}", end.exit_code);
  std::string text = fmt::format("killed by signal {}", end.signal);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 32)
  if (const char* name = ::sigabbrev_np(end.signal)) text += fmt::format(" (SIG{})", name);
#endif
  return text;
}

std::string failure_text(std::string_view program, const ChildEnd& end,
                         std::string_view last_error) {
  return fmt::format("{} failed ({}){}{}", program, to_string(end), last_error.empty() ? "" : ": ",
                     last_error);
}

struct Child::Process {
  ChildOptions options;
  Spawned spawned;
  std::string mark;
  FileDescriptor ended;  // becomes readable when the child ends
  LineSplitter lines, error_lines;
  std::string errors, input;
  bool closes_input = false;
  std::optional<Clock::time_point> kill_at;  // set by terminate
  std::optional<Clock::time_point> deadline;
  bool timed_out = false;
  std::optional<ChildEnd> end;

  Process() = default;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (end) return;
    options.on_line = nullptr;
    options.on_error_line = nullptr;
    signal_group(SIGKILL);
    finish(0);
  }

  void signal_group(int signal) const { ::kill(-spawned.pid, signal); }

  // Reads at most `blocks` blocks from a file. Closes the file at its end.
  template <class Take>
  static void read(FileDescriptor& file, int blocks, Take take) {
    std::array<char, kBlock> block;  // NOLINT(cppcoreguidelines-pro-type-member-init): read into
    for (int i = 0; file && i < blocks; ++i) {
      const ssize_t count = ::read(file.get(), block.data(), block.size());
      if (count > 0) {
        take(std::string_view(block.data(), static_cast<std::size_t>(count)));
      } else if (count < 0 && errno == EINTR) {
        continue;
      } else {
        if (count == 0 || errno != EAGAIN) file.close();
        return;
      }
    }
  }

  void read_all(int blocks) {
    read(spawned.output, blocks,
         [this](std::string_view b) { lines.take(b, options.on_line, options.max_line_bytes); });
    read(spawned.errors, blocks, [this](std::string_view b) {
      error_lines.take(b, options.on_error_line, options.max_line_bytes);
      errors += b;
      if (errors.size() > options.error_bytes) errors.erase(0, errors.size() - options.error_bytes);
    });
  }

  void write_input() {
    const NoBrokenPipe guard;
    while (spawned.input && !input.empty()) {
      const ssize_t count = ::write(spawned.input.get(), input.data(), input.size());
      if (count > 0)
        input.erase(0, static_cast<std::size_t>(count));
      else if (errno == EAGAIN)
        return;
      else if (errno != EINTR)
        spawned.input.close();
    }
    if (!spawned.input) input.clear();
    if (closes_input) spawned.input.close();
  }

  // Returns true if the process has ended; does not reap it. Unless `flags` contains WNOHANG, waits
  // for the process to end.
  [[nodiscard]] bool has_ended(int flags) const {
    siginfo_t info{};
    int status = 0;
    do {
      status = ::waitid(P_PID, static_cast<id_t>(spawned.pid), &info, WEXITED | WNOWAIT | flags);
    } while (status != 0 && errno == EINTR);
    // waitid fails if other code in this process has reaped the child, or has ignored SIGCHLD since
    // the start; the exit status is then lost.
    return status != 0 || info.si_pid != 0;
  }

  // If the child has ended, kills everything that it started, reads the remaining output and reaps
  // the child. `flags`: see has_ended.
  void finish(int flags) {
    if (!has_ended(flags)) return;
    signal_group(SIGKILL);
    kill_marked(kMark, mark);
    read_all(kBlocksAtOnce);
    lines.finish(options.on_line);
    error_lines.finish(options.on_error_line);
    int status = 0;
    pid_t reaped = 0;
    do {
      reaped = ::waitpid(spawned.pid, &status, 0);
    } while (reaped < 0 && errno == EINTR);
    end.emplace();
    if (reaped == spawned.pid) {
      if (WIFSIGNALED(status))
        end->signal = WTERMSIG(status);
      else
        end->exit_code = WEXITSTATUS(status);
    } else {
      end->is_unknown = true;
    }
    end->timed_out = timed_out && end->signal == SIGKILL;
    spawned.input.close();
    spawned.output.close();
    spawned.errors.close();
    ended.close();
  }

  void keep_deadlines(Clock::time_point now) {
    if (deadline && now >= *deadline) timed_out = true;
    if (timed_out || (kill_at && now >= *kill_at)) signal_group(SIGKILL);
  }

  // Adds the child's file descriptors to `polled`, and lowers `until` to the child's next deadline.
  void add_to(std::vector<pollfd>& polled, Clock::time_point& until) const {
    const auto add = [&](const FileDescriptor& file, short events) {
      if (file) polled.push_back({file.get(), events, 0});
    };
    add(spawned.output, POLLIN);
    add(spawned.errors, POLLIN);
    if (!input.empty() || closes_input) add(spawned.input, POLLOUT);
    add(ended, POLLIN);
    if (deadline && !timed_out) until = std::min(until, *deadline);
    if (kill_at) until = std::min(until, std::max(*kill_at, Clock::now() + kTick));
    if (!ended) until = std::min(until, Clock::now() + kTick);
  }
};

Child::Child(std::unique_ptr<Process> process) : process_(std::move(process)) {}
Child::Child(Child&&) noexcept = default;
Child& Child::operator=(Child&&) noexcept = default;
Child::~Child() = default;

Result<Child> Child::start(ChildOptions options) {
  auto process = std::make_unique<Process>();
  process->end.emplace();  // not started yet, so there is nothing to kill
  process->mark = new_mark();
  auto environment = options.environment;
  environment.emplace_back(kMark, process->mark);
  JOINTER_TRY(process->spawned, spawn({.command = options.command,
                                       .environment = environment,
                                       .directory = options.directory,
                                       .has_input = options.has_input}));
  process->end.reset();
  process->ended = open_process(process->spawned.pid);
  if (options.deadline) process->deadline = Clock::now() + *options.deadline;
  process->options = std::move(options);
  return Child(std::move(process));
}

std::int64_t Child::pid() const {
  return process_->spawned.pid;
}

const std::optional<ChildEnd>& Child::end() const {
  return process_->end;
}

const std::string& Child::errors() const {
  return process_->errors;
}

std::string Child::last_error() const {
  std::string_view rest = process_->errors;
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t last = rest.find_last_not_of(kBlank);
  if (last == std::string_view::npos) return {};
  rest = rest.substr(0, last + 1);
  rest.remove_prefix(rest.find_last_of("\r\n") + 1);  // npos + 1 is 0
  rest.remove_prefix(rest.find_first_not_of(kBlank));
  return std::string(rest);
}

void Child::write(std::string_view text) {
  if (!process_->spawned.input || process_->closes_input) return;
  process_->input += text;
  process_->write_input();
}

void Child::close_input() {
  process_->closes_input = true;
  process_->write_input();
}

void Child::terminate(milliseconds grace) {
  if (process_->end) return;
  const auto kill_at = Clock::now() + grace;
  process_->kill_at = process_->kill_at ? std::min(*process_->kill_at, kill_at) : kill_at;
  process_->signal_group(SIGTERM);
}

void Child::kill() {
  if (!process_->end) process_->signal_group(SIGKILL);
}

void Child::pump(std::span<Child* const> children, milliseconds timeout) {
  std::vector<pollfd> polled;
  Clock::time_point until = Clock::now() + timeout;
  for (const Child* child : children)
    if (!child->end()) child->process_->add_to(polled, until);
  if (polled.empty() && std::ranges::all_of(children, [](auto* c) { return c->end().has_value(); }))
    return;
  const auto left = std::chrono::ceil<milliseconds>(until - Clock::now()).count();
  ::poll(polled.data(), polled.size(),
         static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000)));
  for (Child* child : children) {
    Process& process = *child->process_;
    if (process.end) continue;
    process.read_all(kBlocksAtOnce);
    process.write_input();
    process.keep_deadlines(Clock::now());
    process.finish(WNOHANG);
  }
}

ChildEnd Child::wait() {
  Child* const self = this;
  while (!end()) pump({&self, 1}, milliseconds(1000));
  return *end();
}

}  // namespace jointer
