#include "core/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/base/environment.h"

namespace jointer::test {
namespace {

TEST(RunBoth, CallsBothAndWaits) {
  std::atomic<int> sum = 0;
  run_both([&] { sum += 1; },
           [&] {
             std::this_thread::sleep_for(std::chrono::milliseconds(5));
             sum += 2;
           });
  EXPECT_EQ(sum, 3);
}

TEST(RunBoth, RethrowsAnException) {
  EXPECT_THROW(run_both([] { throw std::runtime_error("first"); }, [] {}), std::runtime_error);
  EXPECT_THROW(run_both([] {}, [] { throw std::runtime_error("second"); }), std::runtime_error);
}

TEST(FirstTrue, CallsEachIndexOnce) {
  std::vector<std::atomic<int>> calls(1000);
  EXPECT_EQ(first_true(calls.size(),
                       [&](std::size_t i) {
                         ++calls[i];
                         return false;
                       }),
            calls.size());
  for (const auto& each : calls) EXPECT_EQ(each, 1);
  EXPECT_EQ(first_true(0, [](std::size_t) { return true; }), 0U);
}

TEST(FirstTrue, ReturnsTheLowestIndexAndCallsAllBeforeIt) {
  for (int round = 0; round < 200; ++round) {
    std::vector<std::atomic<int>> calls(64);
    const std::size_t first = first_true(calls.size(), [&](std::size_t i) {
      ++calls[i];
      return i % 16 == 15;
    });
    ASSERT_EQ(first, 15U);
    for (std::size_t i = 0; i <= first; ++i) ASSERT_EQ(calls[i], 1) << i;
  }
}

void work_for(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

TEST(FirstTrue, LongWorkRunsOnSeveralThreads) {
  if (usable_cores() < 2) GTEST_SKIP() << "needs two cores";
  std::mutex mutex;
  std::set<std::thread::id> threads;
  const std::size_t first = first_true(200, [&](std::size_t i) {
    work_for(std::chrono::milliseconds(1));
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
    return i == 150;
  });
  EXPECT_EQ(first, 150U);
  EXPECT_GT(threads.size(), 1U);
}

TEST(FirstTrue, RethrowsFromAnyThread) {
  for (const std::size_t culprit : {0U, 1U, 30U}) {
    EXPECT_THROW(first_true(32,
                            [&](std::size_t i) {
                              if (i == culprit) throw std::runtime_error("no memory");
                              return false;
                            }),
                 std::runtime_error);
  }
}

}  // namespace
}  // namespace jointer::test
