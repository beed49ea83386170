// Tests searches for the fastest plan within a limit: previews while a limit is being chosen, and
// the plan that is then used.

#include "views/session/sac/pareto_search.h"
#include "tests/support/patience.h"

#include <gtest/gtest.h>

#include <QTest>

#include "tests/support/joints.h"
#include "tests/support/snapshots.h"
#include "views/session/sac/sac_solver.h"

namespace jointer::views {
namespace {

using test::kPatienceMs;

class ParetoSearchTest : public testing::Test {
 protected:
  ParetoSearchTest() {
    SacSolver solver;
    const SnapshotPtr snapshot = test::snapshot_of(test::layered_joint(6));
    state_ = solver.state({snapshot, snapshot, {}, {}}).value();
    QObject::connect(&search_, &ParetoSearch::tried, &search_,
                     [this](const Fit& fit) { tried_.push_back(fit); });
    QObject::connect(&search_, &ParetoSearch::fitted, &search_,
                     [this](const Fit& fit) { fitted_.push_back(fit); });
  }
  [[nodiscard]] std::int64_t peak() const { return state_->figures.figures.peak_bytes; }
  [[nodiscard]] std::int64_t limit() const { return peak() / 20 * 19; }
  // The engine's answer.
  [[nodiscard]] Fit wanted(std::int64_t limit) const {
    const Cancellation job;
    return ParetoSearch::trade_off_of(*state_, {}, {}, job, {})
        .value()
        ->fastest_within(limit)
        .value();
  }
  void wait() {
    EXPECT_TRUE(QTest::qWaitFor([this] { return !search_.is_running(); }, kPatienceMs));
  }
  void wait_for_trial() {
    EXPECT_TRUE(QTest::qWaitFor([this] { return !tried_.empty(); }, kPatienceMs));
  }

  SacStatePtr state_;
  ParetoSearch search_;
  std::vector<Fit> tried_, fitted_;
};

TEST_F(ParetoSearchTest, ThePreviewIsThePlanThatIsUsed) {
  search_.try_fastest(state_, limit());
  EXPECT_FALSE(search_.is_running()) << "another limit may follow";
  wait_for_trial();
  EXPECT_TRUE(fitted_.empty());
  // Found already.
  search_.find_fastest(state_, limit());
  ASSERT_EQ(fitted_.size(), 1U);
  EXPECT_FALSE(search_.is_running());
  EXPECT_EQ(fitted_.front().point.plan, tried_.front().point.plan);
  const Fit fit = wanted(limit());
  EXPECT_TRUE(fit.fits);
  EXPECT_EQ(fitted_.front().point.plan, fit.point.plan);
  EXPECT_EQ(fitted_.front().point.figures, fit.point.figures);
}

TEST_F(ParetoSearchTest, ThePreviewsSearchContinues) {
  search_.try_fastest(state_, limit());
  EXPECT_TRUE(QTest::qWaitFor([this] { return search_.is_running(); }, kPatienceMs));
  EXPECT_FALSE(search_.is_finding());
  search_.find_fastest(state_, limit());
  EXPECT_TRUE(search_.is_finding());
  wait();
  EXPECT_TRUE(tried_.empty());
  EXPECT_EQ(fitted_.size(), 1U);
}

TEST_F(ParetoSearchTest, OnlyTheLatestLimitIsTried) {
  search_.try_fastest(state_, 1);
  search_.try_fastest(state_, limit());
  wait_for_trial();
  EXPECT_EQ(tried_.size(), 1U);
  EXPECT_EQ(tried_.front().point.plan, wanted(limit()).point.plan);
  search_.try_fastest(state_, peak());
  search_.stop_trying();
  QTest::qWait(300);
  EXPECT_FALSE(search_.is_running());
  EXPECT_EQ(tried_.size(), 1U);
}

TEST_F(ParetoSearchTest, TheCurveIsKnownImmediately) {
  EXPECT_EQ(search_.fastest_known(state_, limit()), nullptr);
  search_.search(state_);
  wait();
  const ParetoPoint* known = search_.fastest_known(state_, limit());
  ASSERT_NE(known, nullptr);
  EXPECT_LE(known->figures.figures.peak_bytes, limit());
  const std::int64_t known_ns = known->figures.figures.step_ns;
  EXPECT_EQ(search_.fastest_known(state_, 1), nullptr);
  EXPECT_EQ(search_.fastest_known(std::make_shared<SacState>(*state_), limit()), nullptr)
      << "of another state";
  search_.find_fastest(state_, limit());
  wait();
  ASSERT_EQ(fitted_.size(), 1U);
  EXPECT_LE(fitted_.front().point.figures.figures.step_ns, known_ns);
}

// Points in other orders would promise a step that the search does not find.
TEST_F(ParetoSearchTest, AnotherChoiceOfOrdersHasAnotherCurve) {
  search_.search(state_);
  wait();
  int changes = 0;
  QObject::connect(&search_, &ParetoSearch::orders_changed, &search_, [&] { ++changes; });
  const auto is_known = [this] { return search_.fastest_known(state_, limit()) != nullptr; };
  EXPECT_TRUE(is_known());
  search_.set_orders(false);
  EXPECT_FALSE(is_known());
  search_.set_orders(true);
  search_.set_orders(true);
  EXPECT_TRUE(is_known());
  search_.set_twin_groups(true);
  EXPECT_FALSE(is_known());
  search_.set_twin_groups(false);
  EXPECT_TRUE(is_known());
  EXPECT_EQ(changes, 4);
}

// The hidden shares do not depend on the limit, nor on what plans may do.
TEST_F(ParetoSearchTest, SearchesForOneStateShareHiddenShares) {
  ParetoSearch::Hidden hidden;
  const auto first = hidden.of(state_, {});
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(hidden.of(state_, {}), first);
  EXPECT_EQ(hidden.of(state_, {.offload = false}), first);
  const auto with_twins = hidden.of(state_, {.twin_groups = true});
  EXPECT_NE(with_twins, first);
  const auto of_reserved = hidden.of(state_, {.memory = LimitedMemory::reserved});
  EXPECT_NE(of_reserved, with_twins);
  EXPECT_NE(hidden.of(std::make_shared<SacState>(*state_), {.memory = LimitedMemory::reserved}),
            of_reserved);
}

TEST_F(ParetoSearchTest, ACancelledSearchReturnsNoPlan) {
  search_.find_fastest(state_, limit());
  EXPECT_TRUE(search_.is_finding());
  search_.cancel();
  QTest::qWait(100);
  EXPECT_TRUE(fitted_.empty());
  EXPECT_FALSE(search_.is_running());
}

}  // namespace
}  // namespace jointer::views
