// Tests with real processes.

#include "core/process/child.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "core/process/file_descriptor.h"
#include "core/process/temporary_folder.h"
#include "tests/support/alive.h"

namespace jointer::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using testing::AllOf;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Lt;

ChildOptions shell(std::string script) {
  ChildOptions options;
  options.command = {"sh", "-c", std::move(script)};
  return options;
}

struct Ran {
  ChildEnd end;
  std::vector<std::string> lines;
  std::string errors;
};

Child started(ChildOptions options) {
  auto child = Child::start(std::move(options));
  if (!child) throw std::runtime_error(child.error().message);
  return *std::move(child);
}

Ran run(ChildOptions options) {
  Ran ran;
  options.on_line = [&](std::string_view line) { ran.lines.emplace_back(line); };
  Child child = started(std::move(options));
  ran.end = child.wait();
  ran.errors = child.errors();
  return ran;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<std::string> open_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    files.push_back(entry.path().filename().string());
  return files;
}

TEST(Child, ReportsItsLinesAndExitCode) {
  const Ran ran = run(shell("echo one; printf '\\n'; echo three; echo bad >&2; exit 3"));
  EXPECT_THAT(ran.lines, ElementsAre("one", "", "three"));
  EXPECT_EQ(ran.errors, "bad\n");
  EXPECT_EQ(ran.end.exit_code, 3);
  EXPECT_EQ(ran.end.signal, 0);
  EXPECT_FALSE(ran.end.succeeded());
  EXPECT_EQ(to_string(ran.end), "exit code 3");
}

TEST(Child, TheLastLineNeedsNoNewline) {
  EXPECT_THAT(run(shell("printf 'a\\nb'")).lines, ElementsAre("a", "b"));
  EXPECT_THAT(run(shell("printf 'a\\n'")).lines, ElementsAre("a"));
  EXPECT_THAT(run(shell(":")).lines, IsEmpty());
}

TEST(Child, ALongLineIsTruncated) {
  ChildOptions options = shell("printf 'abcdefgh\\nxy\\nABCDEFGH'");
  options.max_line_bytes = 5;
  EXPECT_THAT(run(std::move(options)).lines, ElementsAre("abcde", "xy", "ABCDE"));
}

TEST(Child, PartialLinesAreJoined) {
  EXPECT_THAT(run(shell("printf a; sleep 0.05; printf 'b\\nc'; sleep 0.05; echo d")).lines,
              ElementsAre("ab", "cd"));
}

TEST(Child, AFloodIsReadCompletely) {
  ChildOptions options = shell("head -c 50000000 /dev/zero | tr '\\0' x | fold -w 1000; echo end");
  std::size_t bytes = 0, lines = 0;
  options.on_line = [&](std::string_view line) {
    bytes += line.size();
    ++lines;
  };
  Child child = started(std::move(options));
  EXPECT_TRUE(child.wait().succeeded());
  EXPECT_EQ(bytes, 50'000'003U);
  EXPECT_EQ(lines, 50'000U);  // the last lacks its newline
}

TEST(Child, TheEndOfItsErrorsIsKept) {
  ChildOptions options =
      shell("for i in $(seq 20000); do echo line $i; done >&2; printf '\\n \\n' >&2");
  options.error_bytes = 1000;
  Child child = started(std::move(options));
  child.wait();
  EXPECT_EQ(child.errors().size(), 1000U);
  EXPECT_EQ(child.last_error(), "line 20000");
}

TEST(Child, ReadsItsInput) {
  ChildOptions options = shell("read a; echo got $a; cat | wc -c");
  options.has_input = true;
  std::vector<std::string> lines;
  options.on_line = [&](std::string_view line) { lines.emplace_back(line); };
  Child child = started(std::move(options));
  child.write("hello\n");
  Child* const self = &child;
  while (lines.empty()) Child::pump({&self, 1}, 1s);
  EXPECT_THAT(lines, ElementsAre("got hello"));
  // More than a pipe can buffer.
  child.write(std::string(3'000'000, 'x'));
  child.close_input();
  EXPECT_TRUE(child.wait().succeeded());
  EXPECT_THAT(lines, ElementsAre("got hello", "3000000"));
}

TEST(Child, WithoutInputReadsNothing) {
  EXPECT_THAT(run(shell("cat; echo end")).lines, ElementsAre("end"));
}

TEST(Child, AChildThatDoesNotReadDoesNotBlock) {
  ChildOptions options = shell("exec <&-; sleep 0.05; echo still here");
  options.has_input = true;
  std::vector<std::string> lines;
  options.on_line = [&](std::string_view line) { lines.emplace_back(line); };
  Child child = started(std::move(options));
  child.write(std::string(3'000'000, 'x'));
  EXPECT_TRUE(child.wait().succeeded());
  child.write("more");
  EXPECT_THAT(lines, ElementsAre("still here"));
}

TEST(Child, ASignalIsNamed) {
  const Ran ran = run(shell("kill -SEGV $$"));
  EXPECT_EQ(ran.end.signal, SIGSEGV);
  EXPECT_EQ(to_string(ran.end), "killed by signal 11 (SIGSEGV)");
  EXPECT_EQ(run(shell("kill -KILL $$")).end.signal, SIGKILL);
}

TEST(Child, NoShellInterpretsItsArguments) {
  ChildOptions options;
  options.command = {"printf", "%s|", "$HOME", "$(echo no)", "a b", ";echo no", "`no`", "*", ""};
  EXPECT_THAT(run(std::move(options)).lines, ElementsAre("$HOME|$(echo no)|a b|;echo no|`no`|*||"));
}

TEST(Child, InheritsTheEnvironmentWithAdditions) {
  ::setenv("JOINTER_TEST_KEPT", "kept", 1);
  ::setenv("JOINTER_TEST_REPLACED", "before", 1);
  ChildOptions options = shell(
      "echo $JOINTER_TEST_KEPT $JOINTER_TEST_REPLACED \"$JOINTER_TEST_NEW\"; env | grep -c "
      "^JOINTER_TEST_REPLACED=");
  options.environment = {{"JOINTER_TEST_REPLACED", "after"}, {"JOINTER_TEST_NEW", "a = b"}};
  EXPECT_THAT(run(std::move(options)).lines, ElementsAre("kept after a = b", "1"));
  EXPECT_STREQ(std::getenv("JOINTER_TEST_REPLACED"), "before");
}

TEST(Child, RunsInTheGivenFolder) {
  ChildOptions options = shell("pwd");
  options.directory = "/";
  EXPECT_THAT(run(std::move(options)).lines, ElementsAre("/"));
}

TEST(Child, AFailureToStartIsReported) {
  const auto message = [](ChildOptions options) {
    const auto child = Child::start(std::move(options));
    EXPECT_FALSE(child);
    EXPECT_EQ(child.error().kind, Error::Kind::run);
    return child.error().message;
  };
  EXPECT_THAT(message({.command = {"no-such-program-here"}}), HasSubstr("no-such-program-here"));
  EXPECT_THAT(message({.command = {"/no/such/program"}}), HasSubstr("No such file"));
  EXPECT_THAT(message({.command = {"/etc/passwd"}}), HasSubstr("ermission denied"));
  EXPECT_THAT(message({.command = {}}), HasSubstr("the command is empty"));
  ChildOptions nowhere = shell("pwd");
  nowhere.directory = "/no/such/folder";
  EXPECT_THAT(message(std::move(nowhere)), HasSubstr("/no/such/folder"));
}

TEST(Child, EndsOnRequest) {
  Child child = started(shell("trap 'exit 7' TERM; echo; while :; do sleep 0.01; done"));
  std::this_thread::sleep_for(100ms);
  child.terminate(10s);
  EXPECT_EQ(child.wait().exit_code, 7);
}

TEST(Child, IsKilledIfItIgnoresTheRequest) {
  Child child = started(shell("trap '' TERM; while :; do sleep 0.01; done"));
  std::this_thread::sleep_for(100ms);
  const auto start = Clock::now();
  child.terminate(100ms);
  EXPECT_EQ(child.wait().signal, SIGKILL);
  EXPECT_THAT(seconds_since(start), AllOf(Ge(0.09), Lt(2)));
}

TEST(Child, IsEndedAtItsDeadline) {
  ChildOptions options = shell("trap '' TERM; while :; do sleep 0.01; done");
  options.deadline = 100ms;
  const auto start = Clock::now();
  const Ran ran = run(std::move(options));
  EXPECT_TRUE(ran.end.timed_out);
  EXPECT_THAT(seconds_since(start), AllOf(Ge(0.09), Lt(2)));
  EXPECT_EQ(to_string(ran.end), "killed at its deadline");
}

TEST(Child, IsNotTimedOutBeforeItsDeadline) {
  ChildOptions options = shell("exit 0");
  options.deadline = 10s;
  EXPECT_FALSE(run(std::move(options)).end.timed_out);
}

TEST(Child, ItsDescendantsEndWithIt) {
  // A grandchild that keeps the output open, one that ignores signals, one in a separate session.
  const Ran ran =
      run(shell("sleep 1000 & echo $!; (trap '' TERM HUP; exec sleep 1000) & echo $!; "
                "setsid sleep 1000 & echo $!; sleep 0.1"));
  ASSERT_EQ(ran.lines.size(), 3U);
  EXPECT_TRUE(ran.end.succeeded());
  for (const std::string& line : ran.lines) EXPECT_TRUE(dies_soon(std::stoi(line))) << line;
}

TEST(Child, GoingOutOfScopeEndsIt) {
  pid_t child_pid = 0, grandchild = 0;
  {
    ChildOptions options = shell("trap '' TERM; sleep 1000 & echo $!; wait");
    options.on_line = [&](std::string_view line) { grandchild = std::stoi(std::string(line)); };
    Child child = started(std::move(options));
    child_pid = static_cast<pid_t>(child.pid());
    Child* const self = &child;
    while (grandchild == 0) Child::pump({&self, 1}, 1s);
    EXPECT_TRUE(is_alive(child_pid));
  }
  EXPECT_FALSE(is_alive(child_pid));
  EXPECT_TRUE(dies_soon(grandchild));
  // Nothing is left to wait for.
  EXPECT_EQ(::waitpid(child_pid, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(Child, CanBeMoved) {
  Child first = started(shell("sleep 1000"));
  const auto first_pid = static_cast<pid_t>(first.pid());
  Child second = std::move(first);
  EXPECT_EQ(second.pid(), first_pid);
  second = started(shell("exit 5"));
  EXPECT_FALSE(is_alive(first_pid));
  EXPECT_EQ(second.wait().exit_code, 5);
}

// The kernel kills it with the thread that started it, which also happens if this program is
// killed.
TEST(Child, EndsWithTheThreadThatStartedIt) {
  std::optional<Child> child;
  std::thread([&] { child.emplace(started(shell("sleep 1000"))); }).join();
  EXPECT_EQ(child->wait().signal, SIGKILL);
}

TEST(Child, InheritsNoOpenFile) {
  const FileDescriptor ours(::open("/dev/null", O_RDONLY));  // not closed by exec
  ASSERT_TRUE(ours);
  const Ran ran = run(shell("ls /proc/$$/fd"));
  EXPECT_THAT(ran.lines, ElementsAre("0", "1", "2"));
}

TEST(Child, LeaksNoFile) {
  run(shell("exit 0"));
  const auto before = open_files();
  for (int i = 0; i < 5; ++i) {
    run(shell("echo a; echo b >&2"));
    EXPECT_FALSE(Child::start({.command = {"/no/such/program"}}));
    ChildOptions options = shell("sleep 1000");
    options.has_input = true;
    started(std::move(options));
  }
  EXPECT_EQ(open_files(), before);
}

TEST(Child, ManyRunConcurrently) {
  std::vector<Child> children;
  std::vector<std::string> said(20);
  for (std::size_t i = 0; i < said.size(); ++i) {
    ChildOptions options =
        shell("sleep 0.0" + std::to_string(i % 10) + "; echo " + std::to_string(i));
    options.on_line = [&said, i](std::string_view line) { said[i] += line; };
    children.push_back(started(std::move(options)));
  }
  std::vector<Child*> all;
  for (Child& child : children) all.push_back(&child);
  const auto start = Clock::now();
  while (std::ranges::any_of(children, [](const Child& c) { return !c.end(); }))
    Child::pump(all, 1s);
  EXPECT_LT(seconds_since(start), 10);
  for (std::size_t i = 0; i < said.size(); ++i) EXPECT_EQ(said[i], std::to_string(i));
}

TEST(Child, PumpReturnsInTime) {
  Child child = started(shell("sleep 1000"));
  Child* const self = &child;
  const auto start = Clock::now();
  Child::pump({&self, 1}, 50ms);
  EXPECT_THAT(seconds_since(start), AllOf(Ge(0.045), Lt(1)));
  EXPECT_FALSE(child.end());
}

TEST(Child, HasDefaultSignalHandlers) {
  const auto before = std::signal(SIGTERM, SIG_IGN);
  sigset_t term, mask;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &term, &mask);
  const Ran ran = run(shell("kill -TERM $$; echo survived"));
  ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  std::signal(SIGTERM, before);
  EXPECT_EQ(ran.end.signal, SIGTERM);
  EXPECT_THAT(ran.lines, IsEmpty());
}

TEST(Child, ItsEndIsKnownIfTheParentIgnoredIt) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  const Ran ran = run(shell("exit 3"));
  std::signal(SIGCHLD, before);
  EXPECT_EQ(to_string(ran.end), "exit code 3");
}

TEST(Child, ItsEndIsKnownIfTheParentDiscardedIt) {
  struct sigaction discards {};
  struct sigaction before {};
  discards.sa_handler = SIG_DFL;
  discards.sa_flags = SA_NOCLDWAIT;
  ASSERT_EQ(::sigaction(SIGCHLD, &discards, &before), 0);
  const Ran failed = run(shell("exit 3"));
  const Ran succeeded = run(shell("exit 0"));
  ::sigaction(SIGCHLD, &before, nullptr);
  EXPECT_EQ(to_string(failed.end), "exit code 3");
  EXPECT_TRUE(succeeded.end.succeeded());
}

// The handler and its other flags belong to the program.
TEST(Child, AHandlerOfTheParentStays) {
  static volatile std::sig_atomic_t ends = 0;
  struct sigaction counts {};
  struct sigaction before {};
  struct sigaction after {};
  counts.sa_handler = [](int) { ends = ends + 1; };
  counts.sa_flags = SA_NOCLDWAIT | SA_RESTART;
  ASSERT_EQ(::sigaction(SIGCHLD, &counts, &before), 0);
  const Ran ran = run(shell("exit 3"));
  ::sigaction(SIGCHLD, &before, &after);
  EXPECT_EQ(to_string(ran.end), "exit code 3");
  EXPECT_EQ(after.sa_flags & (SA_NOCLDWAIT | SA_RESTART), SA_RESTART);
  const int seen = ends;
  EXPECT_GE(seen, 1);
}

TEST(Child, AnEndThatIsIgnoredLaterIsNoSuccess) {
  ChildOptions options = shell("read line; exit 0");
  options.has_input = true;
  Child child = started(std::move(options));
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  child.write("\n");
  const ChildEnd end = child.wait();
  std::signal(SIGCHLD, before);
  EXPECT_TRUE(end.is_unknown);
  EXPECT_FALSE(end.succeeded());
  EXPECT_THAT(to_string(end), HasSubstr("exit code unknown"));
}

TEST(Child, AnUnknownEndIsNoSuccess) {
  Child child = started(shell("exit 0"));
  EXPECT_EQ(::waitpid(static_cast<pid_t>(child.pid()), nullptr, 0), child.pid());
  const ChildEnd end = child.wait();
  EXPECT_FALSE(end.succeeded());
  EXPECT_THAT(to_string(end), HasSubstr("exit code unknown"));
}

TEST(TemporaryFolder, IsRemovedWithItsContents) {
  std::string path;
  {
    const auto folder = TemporaryFolder::make("jointer-test-");
    ASSERT_TRUE(folder) << folder.error().message;
    path = folder->path();
    std::filesystem::create_directories(folder->path("a/b"));
    std::ofstream(folder->path("a/b/c")) << "text";
    EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms::owner_all);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace jointer::test
