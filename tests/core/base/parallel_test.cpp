#include "core/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace jointer::test {
namespace {

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
