// Tests values of the latest key: what is computed, what is cached, and keys that replace others.

#include "views/session/work/latest_value.h"

#include <gtest/gtest.h>

#include <QTest>
#include <atomic>
#include <memory>

#include "tests/support/held_pool.h"
#include "tests/support/patience.h"

namespace jointer::views {
namespace {

class LatestValueTest : public testing::Test {
 protected:
  void wait() {
    EXPECT_TRUE(QTest::qWaitFor([this] { return doubled_.is_settled(); }, test::kPatienceMs));
  }

  // Used by jobs, which may outlive the test.
  std::shared_ptr<std::atomic<int>> computed_ = std::make_shared<std::atomic<int>>(0);
  int changed_ = 0;
  // Fails for negative keys.
  LatestValue<int, int> doubled_{[computed = computed_](const int& key) -> Result<int> {
                                   ++*computed;
                                   if (key < 0) return fail(Error::Kind::usage, "negative");
                                   return 2 * key;
                                 },
                                 [this] { ++changed_; }};
};

TEST_F(LatestValueTest, ComputesOnlyTheLatestKey) {
  doubled_.follow(1);
  doubled_.follow(2);
  EXPECT_FALSE(doubled_.is_settled());
  EXPECT_EQ(doubled_.value(), std::nullopt);
  wait();
  EXPECT_EQ(doubled_.value(), 4);
  EXPECT_EQ(computed_->load(), 1);
  EXPECT_EQ(changed_, 1);
}

TEST_F(LatestValueTest, CachesValues) {
  doubled_.follow(1);
  wait();
  doubled_.follow(2);
  wait();
  doubled_.follow(1);
  EXPECT_TRUE(doubled_.is_settled());
  EXPECT_EQ(doubled_.value(), 2);
  EXPECT_EQ(computed_->load(), 2);
  doubled_.forget();
  EXPECT_EQ(doubled_.value(), 2) << "of the current key";
  doubled_.follow(2);
  EXPECT_EQ(doubled_.value(), std::nullopt);
  wait();
  EXPECT_EQ(computed_->load(), 3);
}

TEST_F(LatestValueTest, WithoutAKeyThereIsNoValue) {
  doubled_.follow(1);
  doubled_.follow(std::nullopt);
  EXPECT_TRUE(doubled_.is_settled());
  QTest::qWait(2 * LatestValue<int, int>::kDelayMs);
  EXPECT_EQ(computed_->load(), 0);
  EXPECT_EQ(doubled_.value(), std::nullopt);
}

TEST_F(LatestValueTest, AFailureIsNotCached) {
  doubled_.follow(-1);
  wait();
  EXPECT_EQ(doubled_.problem(), "negative");
  EXPECT_EQ(doubled_.value(), std::nullopt);
  EXPECT_EQ(changed_, 1);
  doubled_.follow(-1);
  EXPECT_EQ(doubled_.problem(), "");
  wait();
  EXPECT_EQ(computed_->load(), 2);
  doubled_.follow(1);
  EXPECT_EQ(doubled_.problem(), "");
}

TEST_F(LatestValueTest, AKeyMayFollowWhileAnotherIsComputed) {
  test::HeldPool pool;
  doubled_.follow(1);
  QTest::qWait(2 * LatestValue<int, int>::kDelayMs);  // its job waits for the pool
  doubled_.follow(2);
  for (int i = 0; i < 100 && !doubled_.is_settled(); ++i) {
    pool.run_started();
    QTest::qWait(20);
  }
  EXPECT_EQ(doubled_.value(), 4);
  EXPECT_EQ(computed_->load(), 2);
  EXPECT_EQ(changed_, 1) << "the value of the first key is only cached";
  doubled_.follow(1);
  EXPECT_EQ(doubled_.value(), 2);
}

}  // namespace
}  // namespace jointer::views
