// Any graph survives being written and read again.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

#include "core/capture/native_reader.h"
#include "core/capture/native_writer.h"
#include "core/graph/canonical.h"
#include "core/graph/complete.h"
#include "core/schedule/memory_timeline.h"
#include "tests/support/random_graph.h"

namespace jointer::test {
namespace {

Graph read_capture(const std::string& text) {
  auto graph = read_native("written", PaddedBytes(text));
  if (!graph) RC_FAIL(graph.error().message);
  return *std::move(graph);
}

RC_GTEST_PROP(NativeProperty, GraphsRoundTrip, (std::uint64_t seed, bool pair)) {
  const auto calls = *rc::gen::inRange<std::size_t>(1, 80);
  const Graph graph = random_graph(seed, {.calls = calls, .pair = pair});
  const std::string text = write_native(graph);
  RC_ASSERT(nlohmann::json::accept(text));
  const Graph again = read_capture(text);
  RC_ASSERT(graph_hash(again) == graph_hash(graph));
  RC_ASSERT(write_native(again) == text);
  RC_ASSERT(again.node_count() == graph.node_count());
  for (std::size_t i = 0; i < graph.order().size(); ++i) {
    const Node &a = graph.node(graph.order()[i]), &b = again.node(again.order()[i]);
    RC_ASSERT(graph.name(graph.order()[i]) == again.name(again.order()[i]));
    RC_ASSERT(a.phase == b.phase);
    RC_ASSERT(a.policy == b.policy);
    RC_ASSERT(a.role == b.role);
    RC_ASSERT(a.flags == b.flags);
    RC_ASSERT(graph.group_size(a) == again.group_size(b));
  }
  const MemoryTimeline before(graph), after(again);
  RC_ASSERT(std::ranges::equal(before.profile(), after.profile()));
}

RC_GTEST_PROP(NativeProperty, AssumptionsAreWritten, (std::uint64_t seed)) {
  Graph graph = random_graph(seed);
  const auto rows = *rc::gen::inRange<std::int64_t>(0, 10'000);
  RC_ASSERT(graph.assume({.named = {{"s0", rows}}}).has_value());
  const Graph again = read_capture(write_native(graph));
  RC_ASSERT(again.symbols().front().value == rows);
  RC_ASSERT(std::ranges::equal(MemoryTimeline(graph).profile(), MemoryTimeline(again).profile()));
  RC_ASSERT(graph_hash(again) == graph_hash(graph));
}

// One half alone is the capture that a partitioner would have written.
RC_GTEST_PROP(NativeProperty, HalvesOfAPairMakeTheSamePair, (std::uint64_t seed)) {
  const Graph graph = random_graph(seed, {.pair = true});
  const std::string forward = write_native(graph, PartId(0)),
                    backward = write_native(graph, PartId(1));
  Graph pair;
  RC_ASSERT(append_native(pair, "fw", PaddedBytes(forward)).has_value());
  RC_ASSERT(append_native(pair, "bw", PaddedBytes(backward)).has_value());
  RC_ASSERT(complete(pair).has_value());
  RC_ASSERT(graph_hash(pair) == graph_hash(graph));
  RC_ASSERT(graph_hash(read_capture(forward)) + "+" + graph_hash(read_capture(backward)) ==
            graph_hash(graph));
}

}  // namespace
}  // namespace jointer::test
