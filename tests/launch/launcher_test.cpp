// Tests the launcher as the desktop uses it, with real processes: on a thread, with progress and
// cancellation. tests/cli/test_bench.py covers all ways in which ranks can fail.

#include "app/launch/launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "tests/support/paths.h"

namespace jointer::test {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;
using Clock = std::chrono::steady_clock;
using Status = RankResult::Status;

class Launching : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("JOINTER_RUNNER", source_path("tests/support/fake_rank.py").c_str(), 1);
    request_.program.graph = source_path("resources/samples/llama_debug_tp2.joint.json.zst");
    request_.ranks = 2;
  }
  void TearDown() override {
    ::unsetenv("JOINTER_RUNNER");
    ::unsetenv("FAKE_RANKS");
  }

  BenchmarkRequest request_;
};

std::vector<Status> statuses(const BenchmarkResult& result) {
  std::vector<Status> all;
  for (const RankResult& rank : result.ranks) all.push_back(rank.status);
  return all;
}

TEST_F(Launching, ReportsProgressUntilTheEnd) {
  std::vector<std::vector<RankResult>> reported;
  LaunchOptions options;
  options.on_progress = [&](const std::vector<RankResult>& ranks) { reported.push_back(ranks); };
  const auto result = launch(request_, options);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->succeeded()) << result->failure();
  EXPECT_THAT(statuses(*result), Each(Status::done));
  ASSERT_FALSE(reported.empty());
  EXPECT_THAT(reported, Each(SizeIs(2)));
  EXPECT_EQ(reported.back()[1].status, Status::done);
  EXPECT_TRUE(reported.back()[1].measured);
  // 2026-01-02T03:04:05+01:00
  EXPECT_THAT(result->started_at, SizeIs(25));
  EXPECT_EQ(result->started_at[22], ':');
}

TEST_F(Launching, IsCancelledFromAnotherThread) {
  ::setenv("FAKE_RANKS", R"({"*":[["stubborn"],["started"],["grandchild"],["sleep",60]]})", 1);
  std::atomic<bool> is_cancelled = false, all_run = false;
  std::optional<BenchmarkResult> result;
  LaunchOptions options;
  options.is_cancelled = [&] { return is_cancelled.load(); };
  options.on_progress = [&](const std::vector<RankResult>& ranks) {
    if (std::ranges::all_of(ranks, [](const RankResult& r) { return r.started.has_value(); }))
      all_run = true;
  };
  std::thread thread([&] {
    if (auto ran = launch(request_, options)) result = *std::move(ran);
  });
  while (!all_run) std::this_thread::sleep_for(5ms);
  std::this_thread::sleep_for(100ms);
  const auto asked = Clock::now();
  is_cancelled = true;
  thread.join();
  EXPECT_LT(Clock::now() - asked, 400ms);  // 100 ms, with a margin for busy machines
  ASSERT_TRUE(result);
  EXPECT_THAT(statuses(*result), Each(Status::stopped));
  EXPECT_EQ(result->ranks[0].reason, "cancelled");
  EXPECT_EQ(result->culprit(), nullptr);
}

TEST_F(Launching, ConcurrentRunsAreIndependent) {
  std::vector<std::optional<BenchmarkResult>> results(2);
  std::vector<std::thread> threads;
  for (auto& result : results)
    threads.emplace_back([&, this] {
      if (auto ran = launch(request_, {})) result = *std::move(ran);
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) {
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->succeeded()) << result->failure();
  }
}

TEST_F(Launching, TheRunnerMustExist) {
  ::setenv("JOINTER_RUNNER", "/no/such/runner", 1);
  const auto result = launch(request_, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, Error::Kind::run);
  EXPECT_THAT(result.error().message, HasSubstr("/no/such/runner"));
}

TEST_F(Launching, TheNumberOfRanksMustBeKnown) {
  request_.ranks = 0;
  EXPECT_EQ(launch(request_, {}).error().kind, Error::Kind::usage);
}

}  // namespace
}  // namespace jointer::test
