#include "views/graph/group_queue.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>
#include <stdexcept>

#include "tests/support/patience.h"

namespace jointer::views {
namespace {

GroupGraphs two_nodes() {
  GroupGraphs graphs;
  graphs[0].nodes = 2;
  graphs[0].edges = {{0, 1}};
  return graphs;
}

TEST(GroupQueueTest, LaysOutWhatWasRequested) {
  GroupQueue queue([](std::span<const GroupGraphs> groups) {
    return lay_out_groups(groups, LayoutStyle{}, {.program = {}});
  });
  const QSignalSpy laid_out(&queue, &GroupQueue::laid_out), failed(&queue, &GroupQueue::failed);
  EXPECT_EQ(queue.find_or_request(two_nodes()), nullptr);
  queue.start();
  ASSERT_TRUE(QTest::qWaitFor([&] { return laid_out.count() == 1; }, test::kPatienceMs));
  EXPECT_NE(queue.find_or_request(two_nodes()), nullptr);
  EXPECT_EQ(queue.pending(), 0U);
  EXPECT_EQ(failed.count(), 0);
}

// For example, if there is not enough memory.
TEST(GroupQueueTest, SaysWhyALayoutFailed) {
  GroupQueue queue([](std::span<const GroupGraphs> /*groups*/) -> std::vector<GroupLayout> {
    throw std::runtime_error("the drawing is too large");
  });
  const QSignalSpy laid_out(&queue, &GroupQueue::laid_out), failed(&queue, &GroupQueue::failed);
  EXPECT_EQ(queue.find_or_request(two_nodes()), nullptr);
  queue.start();
  ASSERT_TRUE(QTest::qWaitFor([&] { return failed.count() == 1; }, test::kPatienceMs));
  const QString why = failed.front().front().toString();
  EXPECT_TRUE(why.contains(QStringLiteral("the drawing is too large"))) << why.toStdString();
  EXPECT_EQ(queue.pending(), 0U);
  EXPECT_EQ(queue.find_or_request(two_nodes()), nullptr) << "requested again";
  EXPECT_EQ(queue.pending(), 1U);
  EXPECT_EQ(laid_out.count(), 0);
}

}  // namespace
}  // namespace jointer::views
