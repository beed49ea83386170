// The order of a list of changes: which orders are asked for, and when the target is reached.

#include "core/policy/ordered_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace jointer::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kLimit = 100;
const PlanTarget kTarget{.peak_bytes = kLimit, .moves = {}, .go_on = {}};

// A list with one change, after which the plan has this peak and a step of 50 ns.
ChangeList list_with(std::int64_t peak_bytes) {
  ChangeList list;
  list.is_reached = peak_bytes <= kLimit;
  list.changes.resize(1);
  list.figures.figures = {.peak_bytes = peak_bytes, .step_ns = 50, .exposed_ns = 20};
  return list;
}

class OrderedListTest : public testing::Test {
 protected:
  // Finds the first of `orders` whose peak is within the limit.
  Result<PlanOrder> find(const ChangeList& list) {
    const auto make_graph = [this]() -> Result<Graph> {
      ++graphs_;
      return Graph();
    };
    return order_of_list(list, kTarget, make_graph, [this](const Graph&, const OrderLimit& limit) {
      limits_.push_back(limit.bytes);
      for (const PlanOrder& order : orders_)
        if (order.figures.peak_bytes <= limit.bytes) return Result<PlanOrder>(order);
      return Result<PlanOrder>(PlanOrder{});
    });
  }
  static PlanOrder order(std::int64_t peak_bytes) {
    return {.passes = "place_collectives",
            .figures = {.peak_bytes = peak_bytes, .step_ns = 40, .exposed_ns = 10}};
  }

  std::vector<PlanOrder> orders_;
  std::vector<std::int64_t> limits_;
  int graphs_ = 0;
};

TEST_F(OrderedListTest, AnOrderIsWithinTheTarget) {
  orders_ = {order(101), order(100)};
  const PlanOrder found = find(list_with(90)).value();
  EXPECT_EQ(found.passes, "place_collectives");
  EXPECT_EQ(found.figures.peak_bytes, 100);
  EXPECT_TRUE(is_reached(found, kTarget));
  EXPECT_THAT(limits_, ElementsAre(kLimit));
}

TEST_F(OrderedListTest, TheOwnOrderHasTheFiguresOfTheList) {
  const ChangeList list = list_with(90);
  const PlanOrder found = find(list).value();
  EXPECT_EQ(found.passes, "");
  EXPECT_EQ(found.figures, list.figures.figures);
  EXPECT_THAT(limits_, ElementsAre(kLimit));
}

// An order may lower the peak of a list that is not within the target.
TEST_F(OrderedListTest, AnOrderMayReachTheTarget) {
  orders_ = {order(115), order(95)};
  const PlanOrder found = find(list_with(120)).value();
  EXPECT_EQ(found.figures.peak_bytes, 95);
  EXPECT_TRUE(is_reached(found, kTarget));
  EXPECT_THAT(limits_, ElementsAre(kLimit));
}

TEST_F(OrderedListTest, OtherwiseTheOrderDoesNotRaiseThePeak) {
  orders_ = {order(121), order(115)};
  const PlanOrder found = find(list_with(120)).value();
  EXPECT_EQ(found.figures.peak_bytes, 115);
  EXPECT_FALSE(is_reached(found, kTarget));
  EXPECT_THAT(limits_, ElementsAre(kLimit, 120));
}

TEST_F(OrderedListTest, AListWithoutChangesKeepsTheOrder) {
  orders_ = {order(80)};
  ChangeList list = list_with(90);
  list.changes.clear();
  EXPECT_EQ(find(list)->passes, "");
  EXPECT_THAT(limits_, IsEmpty());
  EXPECT_EQ(graphs_, 0);
}

// An order alone may be enough.
TEST_F(OrderedListTest, AListWithoutChangesThatMissesTheTargetGetsAnOrder) {
  orders_ = {order(115), order(95)};
  ChangeList list = list_with(120);
  list.changes.clear();
  const PlanOrder found = find(list).value();
  EXPECT_EQ(found.figures.peak_bytes, 95);
  EXPECT_TRUE(is_reached(found, kTarget));
  EXPECT_EQ(why_not_reached(list, found, kTarget), "");
  // An order that does not reach the target would be all that the list does.
  orders_ = {order(115)};
  limits_.clear();
  EXPECT_EQ(find(list)->passes, "");
  EXPECT_THAT(limits_, ElementsAre(kLimit));
}

TEST_F(OrderedListTest, TheReasonSaysWhatTheOrderChanges) {
  ChangeList list = list_with(120);
  list.before.figures.peak_bytes = 130;
  const std::string own = why_not_reached(list, kTarget);
  ASSERT_FALSE(own.empty());
  const PlanOrder kept{.passes = {}, .figures = list.figures.figures};
  EXPECT_EQ(why_not_reached(list, kept, kTarget), own);
  EXPECT_EQ(why_not_reached(list, order(115), kTarget),
            own +
                " These bytes are for the plan's own order. In the order found for it, the peak is "
                "115 B, still 15 B above the limit.");
  EXPECT_EQ(why_not_reached(list, order(120), kTarget),
            own + " The order found for the plan does not lower the peak.");
  EXPECT_EQ(why_not_reached(list, order(100), kTarget), "");
}

TEST_F(OrderedListTest, WithoutAFunctionTheOrderIsKept) {
  const ChangeList list = list_with(90);
  const auto make_graph = [this]() -> Result<Graph> {
    ++graphs_;
    return Graph();
  };
  EXPECT_EQ(order_of_list(list, kTarget, make_graph, {})->figures, list.figures.figures);
  EXPECT_EQ(graphs_, 0);
}

TEST_F(OrderedListTest, ThePointHasTheFiguresOfItsOrder) {
  const ChangeList list = list_with(90);
  PlanOrder in_order = order(95);
  in_order.reserved_bytes = 128;
  const ParetoPoint point = point_of_list(list, in_order, Partitioner::default_partition);
  EXPECT_EQ(point.figures.figures, in_order.figures);
  EXPECT_EQ(point.order, in_order.passes);
  EXPECT_EQ(point.reserved_bytes, 128);
  EXPECT_EQ(point.partitioner, Partitioner::default_partition);
  const ParetoPoint own =
      point_of_list(list, {.passes = {}, .figures = list.figures.figures}, Partitioner::min_cut);
  EXPECT_EQ(own.order, "");
  EXPECT_EQ(own.reserved_bytes, std::nullopt);
}

}  // namespace
}  // namespace jointer::test
