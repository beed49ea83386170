// A partition can be cancelled at every check, and it checks often.

#include <gtest/gtest.h>

#include "core/open/open.h"
#include "core/partition/partition.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"
#include "tests/support/processor_time.h"
#include "tests/support/reference.h"
#include "tests/support/sanitized.h"

namespace jointer::test {
namespace {

class PartitionProgress : public testing::TestWithParam<double> {};

TEST_P(PartitionProgress, StopsAtEveryCheck) {
  const auto joint = must(
      open_graph({.path = source_path("resources/samples/llama_debug_tp2_fsdp2.joint.json.zst")}));
  int asked = 0;
  double last = 0;
  PartitionOptions options{.activation_budget = GetParam()};
  options.watcher = {.report =
                         [&](double done) {
                           EXPECT_GE(done, last);
                           EXPECT_LE(done, 1);
                           last = done;
                         },
                     .is_cancelled = [&] { return ++asked < 0; }};
  ASSERT_TRUE(partition(joint, options));
  EXPECT_GE(last, 0.9);
  const int all = asked;
  EXPECT_GE(all, 8);
  for (int stop = 1; stop <= all; ++stop) {
    asked = 0;
    options.watcher = {.report = {}, .is_cancelled = [&] { return ++asked == stop; }};
    const auto stopped = partition(joint, options);
    ASSERT_FALSE(stopped) << stop;
    EXPECT_EQ(stopped.error().kind, Error::Kind::cancelled);
    EXPECT_EQ(asked, stop) << "it continues after the cancellation";
  }
}

TEST_P(PartitionProgress, ChecksEveryTenthOfASecond) {
  JOINTER_NEEDS_SHARED();
  const auto joint =
      must(open_graph({.path = capture_path("deepseek_v3_671b_tp8_fsdp32_ep32.joint")}));
  double longest = 0, last = processor_ms();
  const auto lap = [&] {
    const double now = processor_ms();
    longest = std::max(longest, now - last);
    last = now;
    return false;
  };
  PartitionOptions options{.activation_budget = GetParam()};
  options.watcher.is_cancelled = lap;
  ASSERT_TRUE(partition(joint, options));
  lap();
  RecordProperty("longest_ms", std::to_string(longest));
  std::printf("longest between two questions: %.1f ms of processor time\n", longest);
#if defined(NDEBUG) && !JOINTER_IS_SANITIZED
  EXPECT_LT(longest, 100);
#endif
}

INSTANTIATE_TEST_SUITE_P(Budgets, PartitionProgress, testing::Values(1.0, 0.3),
                         [](const auto& budget) {
                           return budget.param == 1.0 ? "whole" : "knapsack";
                         });

}  // namespace
}  // namespace jointer::test
