// The memory of an order after swaps is that of the new order, counted from scratch.

#include "core/kernels/order_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "core/kernels/scheduling.h"
#include "tests/support/small_ir.h"

namespace jointer::test {
namespace {

using kernels::BufferId;
using kernels::Ir;
using kernels::MemoryOrder;
using kernels::MemoryPlan;
using kernels::OrderMemory;
using kernels::Place;
using kernels::Scheduling;

// Library calls with results of different sizes; some inputs may be freed.
Ir random_calls(std::mt19937& random) {
  SmallIr small;
  std::vector<BufferId> values{small.input({64}), small.input({128}, false), small.input({256})};
  const auto any = [&] { return values[random() % values.size()]; };
  for (int i = 0; i < 25; ++i)
    values.push_back(
        small.external({static_cast<std::int64_t>(1 + random() % 500)}, {any(), any()}));
  for (const BufferId id : values)
    if (small.ir.buffers[static_cast<std::size_t>(id)].users.empty()) small.output(id);
  return std::move(small.ir);
}

class OrderMemoryOfSeed : public testing::TestWithParam<unsigned> {
 protected:
  OrderMemoryOfSeed()
      : random_(GetParam()),
        ir_(random_calls(random_)),
        scheduling_(ir_, kNewestTorch),
        plan_(scheduling_, scheduling_.first_order()),
        order_(plan_.order(MemoryOrder::as_fused)) {}

  [[nodiscard]] bool are_apart(Place one, std::span<const Place> group) const {
    return std::none_of(group.begin(), group.end(), [&](Place each) {
      return plan_.needs(one, each) || plan_.needs(each, one);
    });
  }
  void expect_exact(const OrderMemory& memory) const {
    const MemoryPlan::Peak now = plan_.peak(order_);
    for (std::size_t i = 0; i < order_.size(); ++i) {
      EXPECT_EQ(memory[order_[i]].after_allocation, now.after_allocation[i]) << i;
      EXPECT_EQ(memory[order_[i]].after_release, now.after_release[i]) << i;
    }
  }
  [[nodiscard]] std::int64_t peak_within(const OrderMemory& memory,
                                         std::span<const Place> places) const {
    std::int64_t peak = 0;
    for (const Place place : places) peak = std::max(peak, memory[place].after_allocation);
    return peak;
  }
  // A place at which a group of up to four kernels begins, with another kernel before and after it.
  // The first kernel stays, as inputs count as allocated by it.
  struct Group {
    std::size_t first, count;
  };
  Group random_group() {
    const std::size_t count = 1 + random_() % 4;
    return {2 + random_() % (order_.size() - count - 2), count};
  }

  std::mt19937 random_;
  Ir ir_;
  Scheduling scheduling_;
  MemoryPlan plan_;
  std::vector<Place> order_;
};

TEST_P(OrderMemoryOfSeed, IsExactAsKernelsMoveLater) {
  OrderMemory memory(plan_);
  expect_exact(memory);
  for (int i = 0; i < 200; ++i) {
    const auto [first, count] = random_group();
    const std::span<const Place> group = std::span(order_).subspan(first, count);
    const Place moved = order_[first - 1];
    if (!are_apart(moved, group)) continue;
    const std::int64_t peak = memory.peak_if_later(moved, group, peak_within(memory, group));
    memory.accept();
    const auto begin = order_.begin() + static_cast<std::ptrdiff_t>(first - 1);
    std::rotate(begin, begin + 1, begin + static_cast<std::ptrdiff_t>(count + 1));
    expect_exact(memory);
    EXPECT_EQ(peak, peak_within(memory, std::span(order_).subspan(first - 1, count + 1)));
  }
}

TEST_P(OrderMemoryOfSeed, IsExactIfOneKernelMovesEarlier) {
  for (int i = 0; i < 200; ++i) {
    order_ = plan_.order(MemoryOrder::as_fused);
    const auto [first, count] = random_group();
    const std::span<const Place> group = std::span(order_).subspan(first, count);
    const Place moved = order_[first + count];
    if (!are_apart(moved, group)) continue;
    OrderMemory memory(plan_);
    const std::int64_t peak = memory.peak_if_earlier(moved, group, peak_within(memory, group));
    memory.accept();
    const auto begin = order_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(count + 1);
    std::rotate(begin, end - 1, end);
    expect_exact(memory);
    EXPECT_EQ(peak, peak_within(memory, std::span(order_).subspan(first, count + 1)));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, OrderMemoryOfSeed, testing::Range(0U, 20U));

}  // namespace
}  // namespace jointer::test
