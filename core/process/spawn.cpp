// Starts processes with fork and exec, because posix_spawn cannot set PR_SET_PDEATHSIG. Since this
// process may have several threads, only async-signal-safe calls are allowed between fork and exec,
// so everything that needs memory is allocated before the fork.

#include "core/process/spawn.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "core/base/number_text.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): required by POSIX

namespace jointer {
namespace {

struct Pipe {
  FileDescriptor read, write;
};

// Duplicates the descriptor to a number above those of the standard streams, so that dup2 to a
// standard stream does not close another pipe. exec closes the duplicate.
FileDescriptor above_standard(const FileDescriptor& file) {
  return FileDescriptor(::fcntl(file.get(), F_DUPFD_CLOEXEC, 3));
}

Result<Pipe> make_pipe() {
  std::array<int, 2> fds{};
#ifdef __linux__
  const int made = ::pipe2(fds.data(), O_CLOEXEC);
#else
  const int made = ::pipe(fds.data());
#endif
  if (made != 0) return fail(Error::Kind::run, "cannot create a pipe: {}", std::strerror(errno));
  const FileDescriptor read(fds[0]), write(fds[1]);
  Pipe pipe{above_standard(read), above_standard(write)};
  if (!pipe.read || !pipe.write)
    return fail(Error::Kind::run, "cannot create a pipe: {}", std::strerror(errno));
  return pipe;
}

void set_nonblocking(const FileDescriptor& file) {
  if (file) ::fcntl(file.get(), F_SETFL, ::fcntl(file.get(), F_GETFL) | O_NONBLOCK);
}

// The environment of this process as NAME=VALUE, with added variables, which replace those with the
// same names.
std::vector<std::string> merged_environment(
    const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> merged;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (std::ranges::none_of(added, [&](const auto& pair) { return pair.first == name; }))
      merged.emplace_back(text);
  }
  for (const auto& [name, value] : added) merged.push_back(fmt::format("{}={}", name, value));
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// Arguments for the code that runs in the child between fork and exec.
struct Launch {
  const char* program;
  char** arguments;
  char** environment;
  const char* directory;  // null: unchanged
  int input, output, errors, status;
  pid_t parent;
  rlim_t max_files;
};

void close_other_files(const Launch& launch) {
#ifdef SYS_close_range
  constexpr unsigned kCloseOnExec = 1U << 2;
  if (::syscall(SYS_close_range, 3U, ~0U, kCloseOnExec) == 0) return;
#endif
  for (int fd = 3; static_cast<rlim_t>(fd) < launch.max_files; ++fd)
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

// Runs in the child. Calls only functions that are allowed after fork in a multithreaded process.
[[noreturn]] void become(const Launch& launch) {
  ::setpgid(0, 0);
#ifdef __linux__
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launch.parent) ::_exit(127);  // the parent ended before prctl
#endif
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &usual, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (::dup2(launch.input, 0) >= 0 && ::dup2(launch.output, 1) >= 0 &&
      ::dup2(launch.errors, 2) >= 0 &&
      (launch.directory == nullptr || ::chdir(launch.directory) == 0)) {
    close_other_files(launch);
    ::execve(launch.program, launch.arguments, launch.environment);
  }
  const int error = errno;
  // If the write fails, the error cannot be reported.
  [[maybe_unused]] const ssize_t written = ::write(launch.status, &error, sizeof error);
  ::_exit(127);
}

// The errno that the child reported if it could not start the program; 0 if exec succeeded.
int exec_error(const FileDescriptor& status) {
  int error = 0;
  ssize_t read = 0;
  do {
    read = ::read(status.get(), &error, sizeof error);
  } while (read < 0 && errno == EINTR);
  return read == sizeof error ? error : 0;
}

}  // namespace

void keep_exit_statuses() {
  struct sigaction now {};
  if (::sigaction(SIGCHLD, nullptr, &now) != 0) return;
  const bool is_ignored = now.sa_handler == SIG_IGN;
  if (!is_ignored && (now.sa_flags & SA_NOCLDWAIT) == 0) return;
  if (is_ignored) now.sa_handler = SIG_DFL;
  now.sa_flags &= ~SA_NOCLDWAIT;
  ::sigaction(SIGCHLD, &now, nullptr);
}

bool can_run(const std::string& path) {
  std::error_code status;
  return std::filesystem::is_regular_file(path, status) && ::access(path.c_str(), X_OK) == 0;
}

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string candidate = (folder.empty() ? "." : folder) + '/' + name;
    if (can_run(candidate)) return candidate;
  }
  return {};
}

Result<Spawned> spawn(const SpawnRequest& request) {
  if (request.command.empty() || request.command.front().empty())
    return fail(Error::Kind::run, "cannot start a program: the command is empty");
  const std::string program = find_program(request.command.front());
  if (program.empty())
    return fail(Error::Kind::run, "the program `{}` is not on PATH; install it, or give its path",
                request.command.front());
  std::vector<std::string> arguments = request.command;
  std::vector<std::string> environment = merged_environment(request.environment);
  std::vector<char*> argument_pointers = pointers(arguments);
  std::vector<char*> environment_pointers = pointers(environment);

  JOINTER_TRY(Pipe output, make_pipe());
  JOINTER_TRY(Pipe errors, make_pipe());
  JOINTER_TRY(Pipe status, make_pipe());
  Pipe input;
  if (request.has_input) {
    JOINTER_TRY(input, make_pipe());
  } else {
    input.read = above_standard(FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)));
    if (!input.read)
      return fail(Error::Kind::run, "cannot open /dev/null: {}", std::strerror(errno));
  }
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const Launch launch{.program = program.c_str(),
                      .arguments = argument_pointers.data(),
                      .environment = environment_pointers.data(),
                      .directory = request.directory.empty() ? nullptr : request.directory.c_str(),
                      .input = input.read.get(),
                      .output = output.write.get(),
                      .errors = errors.write.get(),
                      .status = status.write.get(),
                      .parent = ::getpid(),
                      .max_files = std::min<rlim_t>(limit.rlim_cur, 65'536)};

  keep_exit_statuses();
  // Prevent the signal handlers of this process from running in the child.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  if (pid == 0) become(launch);
  const int fork_error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0)
    return fail(Error::Kind::run, "cannot start `{}`: {}", request.command.front(),
                std::strerror(fork_error));

  status.write.close();
  if (const int error = exec_error(status.read); error != 0) {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return fail(Error::Kind::run, "cannot start `{}`{}: {}", request.command.front(),
                request.directory.empty() ? "" : " in " + request.directory, std::strerror(error));
  }
  Spawned spawned{pid, std::move(input.write), std::move(output.read), std::move(errors.read)};
  set_nonblocking(spawned.input);
  set_nonblocking(spawned.output);
  set_nonblocking(spawned.errors);
  return spawned;
}

void kill_marked(const std::string& name, const std::string& value) {
  namespace fs = std::filesystem;
  const std::string entry = '\0' + name + '=' + value + '\0';
  std::error_code status;
  for (fs::directory_iterator it("/proc", status), last; !status && it != last;
       it.increment(status)) {
    const auto pid = number_of<pid_t>(it->path().filename().string());
    if (!pid || *pid == ::getpid()) continue;
    std::ifstream file(it->path() / "environ", std::ios::binary);
    std::string environment(1, '\0');
    environment.append(std::istreambuf_iterator<char>(file), {});
    environment += '\0';
    if (environment.find(entry) != std::string::npos) ::kill(*pid, SIGKILL);
  }
}

}  // namespace jointer
