// Live bytes while neighboring nodes are swapped, compared with the timeline of a graph in that
// order.

#include "passes/reordering/live_order.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>

#include "core/schedule/memory_timeline.h"
#include "tests/support/random_graph.h"

namespace jointer::test {
namespace {

// Returns true if the group may swap with the call.
bool is_free(const Calls& calls, const LiveOrder& order, std::size_t first, std::size_t count,
             Call other) {
  for (std::size_t i = first; i < first + count; ++i)
    for (const auto& held : {calls.before(order.at(i)), calls.after(order.at(i))})
      if (std::find(held.begin(), held.end(), other) != held.end()) return false;
  return true;
}

void check(Graph graph, const Calls& calls, const MemoryOptions& options, const LiveOrder& order) {
  set_call_order(graph, calls, order.order());
  const MemoryTimeline timeline(graph, options);
  for (std::size_t i = 0; i < calls.size(); ++i)
    RC_ASSERT(order.bytes(order.at(i)) == timeline.profile()[1 + 2 * i]);
}

RC_GTEST_PROP(LiveOrderProperty, EqualsTheTimelineOfTheSameOrder, (std::uint64_t seed, bool pair)) {
  const Graph graph = random_graph(seed, {.calls = 40, .pair = pair});
  std::mt19937_64 chance(seed);
  MemoryOptions options;
  if (!pair && chance() % 3 == 0) options.rules = MemoryRules::torch;
  if (chance() % 3 == 0) options.collectives = CollectiveLibrary::gloo;
  const auto calls = Calls::of(graph, {});
  RC_ASSERT(calls.has_value());
  LiveOrder order(graph, options, *calls);
  check(graph, *calls, options, order);
  int changes = 0;
  for (int i = 0; i < 300; ++i) {
    const Stretch stretch = calls->stretches()[chance() % calls->stretches().size()];
    const std::size_t count = 1 + chance() % 4;
    if (stretch.last - stretch.first < count + 1) continue;
    const std::size_t first = stretch.first + chance() % (stretch.last - stretch.first - count + 1);
    const bool raises = chance() % 2 == 0;
    if (raises ? first == stretch.first : first + count == stretch.last) continue;
    const Call other = order.at(raises ? first - 1 : first + count);
    if (!is_free(*calls, order, first, count, other)) continue;
    const std::vector<Call> was(order.order().begin(), order.order().end());
    const std::int64_t max = raises ? order.raise(first, count) : order.sink(first, count);
    const std::size_t begin = raises ? first - 1 : first;
    RC_ASSERT(max == order.peak({begin, begin + count + 1}));
    if (chance() % 4 == 0) {
      raises ? order.sink(first - 1, count) : order.raise(first + 1, count);
      RC_ASSERT(std::equal(was.begin(), was.end(), order.order().begin()));
    } else {
      ++changes;
    }
    if (i % 20 == 0) check(graph, *calls, options, order);
  }
  check(graph, *calls, options, order);
  RC_CLASSIFY(changes > 20, "more than 20 changes");
}

}  // namespace
}  // namespace jointer::test
