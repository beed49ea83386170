#include "core/schedule/movable_order.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "core/schedule/range_maximum.h"

namespace jointer {
namespace {

RC_GTEST_PROP(MovableOrder, MovesAsDefined, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(1, 40);
  std::vector<NodeId> expected;
  // Not all of the graph's nodes, and not in their order.
  for (std::size_t i = 0; i < count; ++i) expected.emplace_back((i * 7) % count + 3);
  std::sort(expected.begin(), expected.end());
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  std::reverse(expected.begin(), expected.end());
  MovableOrder order(expected, count + 5);
  RC_ASSERT(!order.has(NodeId(0)));
  for (int i = 0; i < 10; ++i) {
    std::vector<NodeId> block, rest;
    for (const NodeId id : expected) (*rc::gen::inRange(0, 4) == 0 ? block : rest).push_back(id);
    if (block.empty()) continue;
    const auto gap = *rc::gen::inRange<std::size_t>(0, rest.size() + 1);
    const std::vector<NodeId> before = expected;
    expected = rest;
    expected.insert(expected.begin() + static_cast<std::ptrdiff_t>(gap), block.begin(),
                    block.end());
    const Stretch changed = order.move(block, gap);
    RC_ASSERT(std::ranges::equal(order.nodes(), expected));
    for (std::size_t place = 0; place < expected.size(); ++place) {
      RC_ASSERT(order.place(expected[place]) == place);
      const bool is_inside = place >= changed.first && place < changed.last;
      RC_ASSERT(is_inside || before[place] == expected[place]);
    }
  }
}

RC_GTEST_PROP(RangeMaximum, IsTheMaximumOfTheRange, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(0, 700);
  std::vector<std::int64_t> values(count);
  for (std::int64_t& value : values) value = *rc::gen::inRange(-1000, 1000);
  RangeMaximum maximum(values);
  for (int i = 0; i < 20; ++i) {
    const auto first = *rc::gen::inRange<std::size_t>(0, count + 1);
    const auto last = *rc::gen::inRange<std::size_t>(first, count + 1);
    std::int64_t expected = std::numeric_limits<std::int64_t>::min();
    for (std::size_t at = first; at < last; ++at) expected = std::max(expected, values[at]);
    RC_ASSERT(maximum.largest(first, last) == expected);
    for (std::size_t at = first; at < last; ++at) values[at] = *rc::gen::inRange(-1000, 1000);
    maximum.update(first, last);
  }
}

}  // namespace
}  // namespace jointer
