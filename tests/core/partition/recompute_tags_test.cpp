#include "core/partition/recompute_tags.h"

#include <gtest/gtest.h>

#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

struct Settled {
  Graph graph;
  std::vector<TagSource> sources;

  MemoryPolicy policy(std::string_view name) const { return node(graph, name).policy; }
  TagSource source(std::string_view name) const { return sources[graph.find(name).index()]; }
};

Settled settle(std::string_view text, Partitioner partitioner = Partitioner::min_cut,
               const std::vector<std::pair<const char*, std::int64_t>>& regions = {}) {
  Settled done{.graph = parse(text), .sources = {}};
  for (const auto& [name, region] : regions) {
    Node& n = done.graph.node(done.graph.find(name));
    n.ac_graph_id = region;
    n.set(Node::has_ac_graph_id);
  }
  done.sources = settle_tags(done.graph, partitioner);
  return done;
}

constexpr const char* kTwoRegions = R"(
  x: f32[4] = input
  dy: f32[4] = tangent
  before: f32[4] = aten.relu(x)
  a: f32[4] = aten.sin(before)  {PREFER_RECOMPUTE}
  b: f32[4] = aten.sin(a)  {MUST_RECOMPUTE}
  c: f32[4] = aten.sin(b)  {MUST_RECOMPUTE}
  d: f32[4] = aten.sin(c)
  return [d, None]
)";

TEST(SettleTags, SavesWhatALaterRegionReads) {
  const Settled done = settle(kTwoRegions, Partitioner::min_cut, {{"a", 1}, {"b", 1}, {"c", 2}});
  EXPECT_EQ(done.policy("a"), MemoryPolicy::prefer_recompute) << "the same region reads it";
  EXPECT_EQ(done.policy("b"), MemoryPolicy::must_save);
  EXPECT_EQ(done.source("b"), TagSource::boundary);
  EXPECT_EQ(done.policy("c"), MemoryPolicy::must_recompute) << "nothing tagged reads it";
  EXPECT_EQ(done.policy("before"), MemoryPolicy::none)
      << "min_cut leaves calls outside of regions alone";
}

TEST(SettleTags, DefaultSavesWhatARegionReadsFromOutside) {
  const Settled done =
      settle(kTwoRegions, Partitioner::default_partition, {{"a", 1}, {"b", 1}, {"c", 2}});
  EXPECT_EQ(done.policy("before"), MemoryPolicy::must_save);
  EXPECT_EQ(done.source("before"), TagSource::region_input);
  EXPECT_EQ(done.policy("x"), MemoryPolicy::none);
}

TEST(SettleTags, SavesCollectivesWithoutTags) {
  const Settled done = settle(R"(
    group tp: 0 1
    x: f32[4] = input
    dy: f32[4] = tangent
    ar: f32[4] = _c10d_functional.all_reduce(x, 'sum', 'tp')
    wt: f32[4] = _c10d_functional.wait_tensor(ar)
    ag: f32[8] = _c10d_functional.all_gather_into_tensor(x, 2, 'tp')  {MUST_RECOMPUTE}
    wg: f32[8] = _c10d_functional.wait_tensor(ag)  {MUST_RECOMPUTE}
    y: f32[4] = aten.relu(wt)
    return [y, wg, None]
  )");
  EXPECT_EQ(done.policy("ar"), MemoryPolicy::must_save);
  EXPECT_EQ(done.source("wt"), TagSource::collective);
  EXPECT_EQ(done.policy("ag"), MemoryPolicy::must_recompute);
  EXPECT_EQ(done.policy("wg"), MemoryPolicy::must_recompute);
  EXPECT_EQ(done.policy("y"), MemoryPolicy::none);
}

TEST(SettleTags, SavesWhatForwardAndBackwardWriteToOneInput) {
  Graph graph = parse(R"(
    x: f32[4] = input
    state: f32[4] = buffer
    dy: f32[4] = tangent
    y: f32[4] = aten.mul.Tensor(x, 2)
    g: f32[4] = aten.mul.Tensor(dy, 2)  {backward}
    first: f32[4] = aten.copy_(state, y)
    second: f32[4] = aten.copy_(state, g)  {backward}
    return [y, g]
  )");
  graph.node(graph.find("first")).partitioner_tag = graph.intern("must_be_in_forward");
  graph.node(graph.find("second")).partitioner_tag = graph.intern("must_be_in_backward");
  const auto sources = settle_tags(graph, Partitioner::min_cut);
  EXPECT_EQ(node(graph, "y").policy, MemoryPolicy::must_save);
  EXPECT_EQ(sources[graph.find("y").index()], TagSource::mutation);
  EXPECT_EQ(node(graph, "g").policy, MemoryPolicy::none);
}

TEST(SettleTags, DoesNotRecomputeReadersOfChangedMemory) {
  const Settled done = settle(R"(
    x: f32[4] = input
    dy: f32[4] = tangent
    early: f32[4] = aten.relu(x)  {MUST_RECOMPUTE}
    view: f32[2,2] = aten.view(x, [2, 2])
    stale: f32[2,2] = aten.relu(view)
    write: f32[4] = aten.add_.Tensor(x, 1)  {MUST_RECOMPUTE}
    late: f32[4] = aten.relu(x)  {MUST_RECOMPUTE}
    return [early, stale, write, late, None]
  )");
  EXPECT_EQ(done.policy("early"), MemoryPolicy::must_save);
  EXPECT_EQ(done.policy("stale"), MemoryPolicy::must_save)
      << "it reads a view of memory that is written";
  EXPECT_EQ(done.policy("view"), MemoryPolicy::none);
  EXPECT_EQ(done.policy("write"), MemoryPolicy::must_save);
  EXPECT_EQ(done.policy("late"), MemoryPolicy::must_recompute);
  EXPECT_EQ(done.source("early"), TagSource::written);
}

}  // namespace
}  // namespace jointer::test
