#include "core/partition/flow_network.h"
#include "tests/support/must.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace jointer::test {
namespace {

constexpr auto kSource = FlowNetwork::kSource, kSink = FlowNetwork::kSink;
constexpr auto kInfinite = FlowNetwork::kInfinite;

std::vector<bool> sink_side(const FlowNetwork& network) {
  return must(network.minimum_cut()).sink_side;
}

TEST(FlowNetwork, TakesTheCutNearestToTheSink) {
  // source -> 2 -> 3 -> sink with equal capacities: any of the three arcs would do.
  FlowNetwork network(4);
  network.add(kSource, 2, 1);
  network.add(2, 3, 1);
  network.add(3, kSink, 1);
  EXPECT_EQ(network.minimum_cut()->capacity, 1);
  EXPECT_EQ(sink_side(network), (std::vector<bool>{false, true, false, false}));
}

TEST(FlowNetwork, CutsArcsWithoutCapacity) {
  FlowNetwork network(4);
  network.add(kSource, 2, kInfinite);
  network.add(2, 3, 0);
  network.add(3, kSink, kInfinite);
  EXPECT_EQ(network.minimum_cut()->capacity, 0);
  EXPECT_EQ(sink_side(network), (std::vector<bool>{false, true, false, true}));
}

TEST(FlowNetwork, ReportsThatNoCutIsFinite) {
  FlowNetwork network(5);
  network.add(kSource, 2, kInfinite);
  network.add(kSource, 3, 1);
  network.add(2, 4, kInfinite);
  network.add(4, kSink, kInfinite);
  EXPECT_EQ(network.minimum_cut()->capacity, kInfinite);
  EXPECT_EQ(network.infinite_path(), (std::vector<FlowNetwork::Vertex>{kSource, 2, 4, kSink}));
}

TEST(FlowNetwork, RefusesInvalidCapacities) {
  FlowNetwork network(3);
  network.add(kSource, 2, kInfinite - 1);
  network.add(2, kSink, kInfinite - 1);
  ASSERT_FALSE(network.minimum_cut());
  EXPECT_EQ(network.minimum_cut().error().kind, Error::Kind::usage);
  EXPECT_EQ(network.minimum_cut().error().message,
            "the capacities of the flow network add up to 2^61 or more, so no minimum cut can be "
            "computed; check the sizes of the graph's tensors");
}

TEST(FlowNetwork, CutsNothingWithoutArcs) {
  EXPECT_EQ(FlowNetwork(2).minimum_cut()->capacity, 0);
}

// Enumerates all partitions of the vertices: the minimum capacity, and the vertices that are on the
// sink's side in every cut with that capacity.
FlowNetwork::Cut by_trial(const FlowNetwork& network) {
  const std::size_t free = network.vertex_count() - 2;
  FlowNetwork::Cut best{.capacity = kInfinite, .sink_side = {}};
  for (std::size_t chosen = 0; chosen < (std::size_t{1} << free); ++chosen) {
    std::vector<bool> is_sink(network.vertex_count(), false);
    is_sink[kSink] = true;
    for (std::size_t i = 0; i < free; ++i) is_sink[i + 2] = (chosen >> i & 1) != 0;
    std::int64_t capacity = 0;
    for (const FlowNetwork::Arc& arc : network.arcs())
      if (!is_sink[arc.from] && is_sink[arc.to])
        capacity = arc.capacity == kInfinite || capacity == kInfinite ? kInfinite
                                                                      : capacity + arc.capacity;
    if (capacity == kInfinite) continue;
    if (capacity < best.capacity) best = {.capacity = capacity, .sink_side = is_sink};
    if (capacity == best.capacity)
      for (std::size_t i = 0; i < is_sink.size(); ++i)
        best.sink_side[i] = best.sink_side[i] && is_sink[i];
  }
  return best;
}

RC_GTEST_PROP(FlowNetworkProperty, IsTheMinimumOfAllCuts, ()) {
  const auto vertices = *rc::gen::inRange<std::size_t>(2, 11);
  FlowNetwork network(vertices);
  const auto arcs = *rc::gen::inRange(0, 25);
  for (int i = 0; i < arcs; ++i) {
    const auto vertex =
        rc::gen::inRange<FlowNetwork::Vertex>(0, static_cast<FlowNetwork::Vertex>(vertices));
    const auto from = *vertex, to = *vertex;
    const auto capacity = *rc::gen::inRange<std::int64_t>(-2, 6);
    if (from != to) network.add(from, to, capacity < 0 ? kInfinite : capacity);
  }
  const auto cut = network.minimum_cut();
  const FlowNetwork::Cut expected = by_trial(network);
  RC_ASSERT(cut);
  RC_ASSERT(cut->capacity == expected.capacity);
  RC_ASSERT(network.infinite_path().empty() == (expected.capacity != kInfinite));
  if (expected.capacity != kInfinite) RC_ASSERT(cut->sink_side == expected.sink_side);
}

}  // namespace
}  // namespace jointer::test
