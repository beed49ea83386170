// Tests the protocol with hosts that are shell scripts, which can misbehave like any process.

#include "plugins/hosted/host_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/hosted/memory.h"

namespace jointer::test {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

const char* const kReady = R"(echo '{"event":"ready","protocol":1,"host":"sh"}';)";
const char* const kDone = R"(echo '{"event":"done"}')";

struct Asked {
  Result<void> result;
  std::vector<std::string> logged;
  std::vector<HostMessage> reported;
  milliseconds took{0};
};

Asked ask(const std::string& script, HostLimits limits = {},
          std::function<bool()> is_cancelled = {}) {
  Asked asked;
  HostQuestion question;
  question.program = {{"/bin/sh", "-c", script}, {}};
  question.request = {{"request", "run"}};
  question.limits = limits;
  question.log = [&](std::string_view line) { asked.logged.emplace_back(line); };
  question.tell = [&](const HostMessage& message) { asked.reported.push_back(message); };
  question.is_cancelled = std::move(is_cancelled);
  const auto start = std::chrono::steady_clock::now();
  asked.result = ask_host(question);
  asked.took = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - start);
  return asked;
}

std::string error_of(const Asked& asked) {
  return asked.result ? "no error" : asked.result.error().message;
}

TEST(HostProcessTest, AQuestionIsAnswered) {
  const Asked asked = ask(std::string("read request; echo \"got $request\" >&2;") + kReady +
                          R"(echo '{"event":"progress","done":0.5}';)" + kDone);
  ASSERT_TRUE(asked.result) << error_of(asked);
  ASSERT_EQ(asked.reported.size(), 2U);
  EXPECT_EQ(std::get<HostProgress>(asked.reported[1]).done, 0.5);
  ASSERT_EQ(asked.logged.size(), 1U);
  EXPECT_THAT(asked.logged[0], HasSubstr(R"("request":"run","protocol":1,"memory_bytes":)"));
}

TEST(HostProcessTest, DataAfterTheLastMessageIsIgnored) {
  const Asked asked = ask(std::string(kReady) + kDone + "; echo garbage; sleep 100");
  EXPECT_TRUE(asked.result) << error_of(asked);
  EXPECT_LT(asked.took, milliseconds(10'000));
}

// The messages arrive together, and the process is still running.
TEST(HostProcessTest, CancellingAfterTheLastMessageIsTooLate) {
  HostQuestion question;
  question.program = {
      {"/bin/sh", "-c",
       std::string(kReady) +
           R"(printf '{"event":"progress","done":1}\n{"event":"done"}\n'; sleep 100)"},
      {}};
  question.request = {{"request", "run"}};
  bool has_progress = false;
  question.tell = [&](const HostMessage& message) {
    has_progress |= std::holds_alternative<HostProgress>(message);
  };
  question.is_cancelled = [&] { return has_progress; };
  const auto result = ask_host(question);
  EXPECT_TRUE(result) << result.error().message;
  EXPECT_TRUE(has_progress);
}

TEST(HostProcessTest, GarbageEndsIt) {
  const Asked asked = ask(std::string(kReady) + "echo what is this; sleep 100");
  EXPECT_THAT(error_of(asked), HasSubstr(R"(invalid message: "what is this")"));
  EXPECT_LT(asked.took, milliseconds(10'000));
}

TEST(HostProcessTest, TheFirstMessageMustBeReady) {
  EXPECT_THAT(error_of(ask(kDone)), HasSubstr("did not begin with a `ready` message"));
  EXPECT_THAT(error_of(ask(std::string(kReady) + kReady + kDone)), HasSubstr("sent `ready` twice"));
}

TEST(HostProcessTest, AnotherProtocolIsRefused) {
  EXPECT_THAT(error_of(ask(R"(echo '{"event":"ready","protocol":2,"host":"x"}'; sleep 100)")),
              HasSubstr("uses protocol version 2, not 1"));
}

TEST(HostProcessTest, AnEndWithoutAnAnswerIsExplained) {
  EXPECT_THAT(error_of(ask(std::string(kReady) + "echo oh no >&2; exit 3")),
              HasSubstr("ended without an answer: exit code 3; last output: oh no"));
  EXPECT_THAT(error_of(ask(std::string(kReady) + "kill -SEGV $$")), HasSubstr("signal 11"));
  EXPECT_THAT(error_of(ask("exit 0")), HasSubstr("ended without an answer"));
}

TEST(HostProcessTest, ADeadlineEndsIt) {
  const Asked asked = ask(std::string(kReady) + "trap '' TERM; while :; do :; done",
                          {.deadline = milliseconds(300)});
  EXPECT_EQ(error_of(asked), "did not end within 0.3 s");
  EXPECT_LT(asked.took, milliseconds(5'000));
}

// Time from the moment of cancelling to the end of the process.
milliseconds cancel_latency() {
  auto requested = std::chrono::steady_clock::time_point::max();
  const auto start = std::chrono::steady_clock::now();
  const Asked asked = ask(std::string(kReady) + "trap '' TERM; while :; do :; done", {}, [&] {
    const auto now = std::chrono::steady_clock::now();
    if (now - start < milliseconds(100)) return false;
    requested = std::min(requested, now);
    return true;
  });
  EXPECT_FALSE(asked.result);
  EXPECT_EQ(error_of(asked), "cancelled");
  return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - requested);
}

TEST(HostProcessTest, CancellingEndsItWithinATenthOfASecond) {
  // The minimum of three, since a busy machine may delay this process. `is_cancelled` is polled
  // every 20 ms, which add to the delay that a user sees.
  const milliseconds latency = std::min({cancel_latency(), cancel_latency(), cancel_latency()});
  EXPECT_LT(latency, milliseconds(100 - 20));
}

TEST(HostProcessTest, MemoryIsWatched) {
  // tail buffers its input until the end of a line, which never comes.
  const HostLimits limits{.memory_bytes = 100 << 20};
  EXPECT_EQ(error_of(ask(std::string(kReady) + "exec tail /dev/zero", limits)),
            "exceeded the memory limit of 100 MiB");
  // The same for a child of the host.
  EXPECT_EQ(error_of(ask(std::string(kReady) + "tail /dev/zero; sleep 100", limits)),
            "exceeded the memory limit of 100 MiB");
}

TEST(HostProcessTest, TheDefaultLimitIsBelowTheMachines) {
  EXPECT_GT(default_memory_limit(), 100 << 20);
  EXPECT_GT(resident_bytes(::getpid()), 1 << 20);
  EXPECT_EQ(resident_bytes(-1), 0);
}

TEST(HostProcessTest, AHostThatCannotBeStartedIsNamed) {
  HostQuestion question;
  question.program = {{"/no/such/host"}, {}};
  question.request = OrderedJson::object();
  const auto asked = ask_host(question);
  ASSERT_FALSE(asked);
  EXPECT_THAT(asked.error().message, HasSubstr("/no/such/host"));
}

}  // namespace
}  // namespace jointer::test
