#include "core/edit/repeat_in_layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/edit/merge.h"
#include "core/edit/replace.h"
#include "core/graph/canonical.h"
#include "core/graph/validate.h"
#include "tests/support/graphs.h"
#include "tests/support/layered_gathers.h"

namespace jointer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RepeatInLayersTest : public testing::Test {
 protected:
  // Applies an edit to the graph, and returns its repetition.
  Result<RepeatedEdit> repeat(const Edit& edit) {
    const Graph before = graph_;
    const LayerCounterparts counterparts(before, ModuleTree(before));
    if (auto done = apply(graph_, edit); !done) return tl::unexpected(done.error());
    return repeat_in_layers(before, counterparts, edit, graph_, Dependencies(graph_));
  }
  static Edit move(std::vector<std::string> nodes, const std::string& before) {
    return {.title = "Move it",
            .changes = {MoveNodes{.nodes = std::move(nodes), .before = before}}};
  }
  static Edit set(std::vector<std::string> nodes, MemoryPolicy policy) {
    return {.title = "Set it", .changes = {SetPolicy{.policy = policy, .nodes = std::move(nodes)}}};
  }
  void apply_all(const Edit& edit) {
    const auto done = apply(graph_, edit);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_TRUE(validate(graph_));
  }
  [[nodiscard]] std::size_t position(std::string_view name) const {
    return graph_.position(graph_.find(name));
  }
  [[nodiscard]] MemoryPolicy policy(std::string_view name) const {
    return graph_.node(graph_.find(name)).policy;
  }

  Graph graph_ = test::parse(test::layered_gathers(4));
};

TEST_F(RepeatInLayersTest, MovesTheCounterpartsBeforeTheCounterpartOfTheNeighbor) {
  const auto repeated = repeat(move({"g1"}, "a1"));
  ASSERT_TRUE(repeated) << repeated.error().message;
  EXPECT_EQ(repeated->layers, 3U);
  EXPECT_TRUE(repeated->left_out.empty());
  EXPECT_EQ(repeated->edit.title, "Move it, the same in 3 more layers");
  apply_all(repeated->edit);
  for (const char layer : {'0', '1', '2', '3'})
    EXPECT_EQ(position(std::string("g") + layer) + 1, position(std::string("a") + layer));
}

TEST_F(RepeatInLayersTest, TheNeighborMayBeInAnotherLayer) {
  // Before the product of the layer ahead; the first layer has none.
  const auto repeated = repeat(move({"g2"}, "a1"));
  ASSERT_TRUE(repeated) << repeated.error().message;
  EXPECT_EQ(repeated->layers, 2U);
  EXPECT_THAT(repeated->left_out,
              ElementsAre("Layer 0: the nodes would move to layer -1, which does not exist"));
  EXPECT_THAT(repeated->edit.notes,
              testing::Contains("Not in all layers. " + repeated->left_out.front() + "."));
  apply_all(repeated->edit);
  EXPECT_EQ(position("g1") + 1, position("a0"));
  EXPECT_EQ(position("g3") + 1, position("a2"));
}

TEST_F(RepeatInLayersTest, WithoutANeighborInALayerAllMoveBeforeTheSameNode) {
  graph_ = test::parse(R"(
    w: f32[8,8] = parameter
    x: f32[8,8] = input
    e: f32[8,8] = aten.relu(x)
    f: f32[8,8] = aten.tanh(x)
    a0: f32[8,8] = aten.mm(e, w)   {layers.0}
    t0: f32[8,8] = aten.t(w)       {layers.0}
    a1: f32[8,8] = aten.mm(f, w)   {layers.1}
    t1: f32[8,8] = aten.t(w)       {layers.1}
    y: f32[8,8] = aten.mm(a0, a1)
    return [y, t0, t1]
  )");
  const auto repeated = repeat(move({"t0"}, "f"));
  ASSERT_TRUE(repeated) << repeated.error().message;
  apply_all(repeated->edit);
  EXPECT_EQ(position("t0") + 1, position("t1"));
  EXPECT_EQ(position("t1") + 1, position("f"));
}

TEST_F(RepeatInLayersTest, TheNodeAheadIsTheNeighborAtTheEndOfTheLastLayer) {
  graph_ = test::parse(R"(
    w: f32[8,8] = parameter
    x: f32[8,8] = input
    t0: f32[8,8] = aten.t(w)       {layers.0}
    a0: f32[8,8] = aten.mm(x, w)   {layers.0}
    t1: f32[8,8] = aten.t(w)       {layers.1}
    a1: f32[8,8] = aten.mm(a0, w)  {layers.1}
    y: f32[8,8] = aten.relu(a1)
    return [y, t0, t1]
  )");
  const auto repeated = repeat(move({"t1"}, "y"));
  ASSERT_TRUE(repeated) << repeated.error().message;
  apply_all(repeated->edit);
  EXPECT_EQ(position("a0") + 1, position("t0"));
  EXPECT_EQ(position("a1") + 1, position("t1"));
}

TEST_F(RepeatInLayersTest, SetsThePoliciesOfTheCounterparts) {
  const auto repeated = repeat(set({"a2", "y2"}, MemoryPolicy::must_save));
  ASSERT_TRUE(repeated) << repeated.error().message;
  EXPECT_EQ(repeated->layers, 3U);
  apply_all(repeated->edit);
  for (const char* name : {"a0", "y0", "a1", "y1", "a3", "y3"})
    EXPECT_EQ(policy(name), MemoryPolicy::must_save) << name;
  EXPECT_EQ(policy("g0"), MemoryPolicy::none);
}

TEST_F(RepeatInLayersTest, ASelectorOfOneNodeIsLikeItsName) {
  const auto repeated =
      repeat({.title = "Save it", .changes = {SetPolicy{"a1", MemoryPolicy::must_save}}});
  ASSERT_TRUE(repeated) << repeated.error().message;
  apply_all(repeated->edit);
  EXPECT_EQ(policy("a3"), MemoryPolicy::must_save);
}

TEST_F(RepeatInLayersTest, TheWholeIsOneEditThatCanBeUndone) {
  const std::string before = graph_hash(graph_);
  const Graph opened = graph_;
  const Edit edit = move({"g1"}, "a1");
  const auto repeated = repeat(edit);
  ASSERT_TRUE(repeated);
  const Edit all = in_all_layers(edit, *repeated);
  EXPECT_EQ(all.title, "Move it in 4 layers");
  graph_ = opened;
  const auto inverse = apply(graph_, all);
  ASSERT_TRUE(inverse) << inverse.error().message;
  EXPECT_EQ(position("g3") + 1, position("a3"));
  ASSERT_TRUE(apply(graph_, *inverse));
  EXPECT_EQ(graph_hash(graph_), before);
}

// Two gathers in each layer.
std::string pairs_of_gathers(int layers) {
  std::string text = "group fsdp: 0 1\n";
  for (int i = 0; i < layers; ++i)
    text += fmt::format("w{0}: f32[8,8] = parameter\nu{0}: f32[8,8] = parameter\n", i);
  text += "x: f32[8,16] = input\n";
  for (int i = 0; i < layers; ++i)
    text += fmt::format(
        "g{0}: f32[16,8] = _c10d_functional.all_gather_into_tensor(w{0}, 2, 'fsdp')  "
        "{{layers.{0}}}\n"
        "h{0}: f32[16,8] = _c10d_functional.all_gather_into_tensor(u{0}, 2, 'fsdp')  "
        "{{layers.{0}}}\n"
        "v{0}: f32[16,8] = _c10d_functional.wait_tensor(g{0})                        "
        "{{layers.{0}}}\n"
        "t{0}: f32[16,8] = _c10d_functional.wait_tensor(h{0})                        "
        "{{layers.{0}}}\n"
        "s{0}: f32[16,8] = aten.add.Tensor(v{0}, t{0})                               "
        "{{layers.{0}}}\n"
        "r{0}: f32[16,8] = aten.relu(s{0})                                           "
        "{{layers.{0}}}\n"
        "y{0}: f32[8,8] = aten.mm(x, r{0})                                           "
        "{{layers.{0}}}\n",
        i);
  std::string results;
  for (int i = 0; i < layers; ++i) results += fmt::format("{}y{}", i == 0 ? "" : ", ", i);
  return text + fmt::format("return [{}]\n", results);
}

TEST_F(RepeatInLayersTest, MergesAndSplitsTheCollectivesOfEachLayer) {
  graph_ = test::parse(pairs_of_gathers(3));
  const auto starts = [this] {
    std::vector<NodeId> found;
    for (const NodeId id : graph_.order())
      if (graph_.is_collective_start(graph_.node(id))) found.push_back(id);
    return found;
  };
  ASSERT_EQ(starts().size(), 6U);
  const auto merged = merge_collectives(graph_, std::vector{graph_.find("g1"), graph_.find("h1")});
  ASSERT_TRUE(merged) << merged.error().message;
  const auto all_merged = repeat(*merged);
  ASSERT_TRUE(all_merged) << all_merged.error().message;
  EXPECT_EQ(all_merged->layers, 2U);
  EXPECT_TRUE(all_merged->left_out.empty());
  EXPECT_EQ(all_merged->edit.title, merged->title + ", the same in 2 more layers");
  apply_all(all_merged->edit);
  EXPECT_EQ(starts().size(), 3U);
  for (const char* name : {"g0", "h0", "g2", "h2"}) EXPECT_FALSE(graph_.find(name)) << name;

  const auto again = split_collective(graph_, starts()[1]);
  ASSERT_TRUE(again) << again.error().message;
  const auto all_split = repeat(*again);
  ASSERT_TRUE(all_split) << all_split.error().message;
  EXPECT_EQ(all_split->layers, 2U);
  apply_all(all_split->edit);
  EXPECT_EQ(starts().size(), 6U);
}

TEST_F(RepeatInLayersTest, ReplacesTheOperatorOfTheCounterparts) {
  graph_ = test::parse(pairs_of_gathers(3));
  const auto replaced = replace_call(graph_, graph_.find("r1"), "aten.sigmoid.default");
  ASSERT_TRUE(replaced) << replaced.error().message;
  const auto repeated = repeat(*replaced);
  ASSERT_TRUE(repeated) << repeated.error().message;
  EXPECT_EQ(repeated->layers, 2U);
  apply_all(repeated->edit);
  for (const char* name : {"r0", "r1", "r2"})
    EXPECT_EQ(graph_.target(graph_.node(graph_.find(name))), "aten.sigmoid.default") << name;
}

TEST_F(RepeatInLayersTest, LayersThatDifferAreLeftOut) {
  std::string text = test::layered_gathers(3);
  text.insert(text.find("y1:"), "z1: f32[4096,4096] = aten.mm(a1, a1)  {layers.1}\n");
  graph_ = test::parse(text);
  const auto repeated = repeat(move({"g0"}, "a0"));
  ASSERT_TRUE(repeated) << repeated.error().message;
  EXPECT_EQ(repeated->layers, 1U);
  EXPECT_THAT(repeated->left_out,
              ElementsAre("Layer 1: the layer differs from layer 0: it has no counterpart of a0"));
}

TEST_F(RepeatInLayersTest, RefusesChangesThatAreAlreadyMade) {
  ASSERT_TRUE(repeat(move({"g1"}, "a1")).map([&](const RepeatedEdit& r) { apply_all(r.edit); }));
  const auto again = repeat(move({"g1"}, "a1"));
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("the edit is already applied there"));
  const auto policies = repeat(set({"a1"}, MemoryPolicy::none));
  ASSERT_FALSE(policies);
  EXPECT_THAT(policies.error().message, HasSubstr("the edit is already applied there"));
}

TEST_F(RepeatInLayersTest, RefusesOtherEditsWithTheReason) {
  const auto why = [&](const Edit& edit) {
    const LayerCounterparts counterparts(graph_, ModuleTree(graph_));
    const auto repeated =
        repeat_in_layers(graph_, counterparts, edit, graph_, Dependencies(graph_));
    return repeated ? std::string("nothing") : repeated.error().message;
  };
  EXPECT_EQ(why(set({"a0", "a1"}, MemoryPolicy::must_save)),
            "the edit already changes layers 0 and 1; select nodes of one layer");
  EXPECT_EQ(why({.changes = {SetPolicy{"aten.mm.default", MemoryPolicy::must_save}}}),
            "aten.mm.default names no node: only policies of named nodes can be repeated");
  EXPECT_EQ(why({.changes = {RemoveNode{.node = "a0"}}}),
            "the edit changes calls; only moves, policies, and merged, split or replaced calls can "
            "be repeated");
  EXPECT_EQ(why({}), "the edit names no nodes");
  graph_ = test::parse(R"(
    x: f32[8,8] = input
    e: f32[8,8] = aten.relu(x)
    f: f32[8,8] = aten.relu(e)
    return [f]
  )");
  EXPECT_EQ(why(set({"e"}, MemoryPolicy::must_save)),
            "e does not belong to a layer, so it has no counterpart in other layers");
}

}  // namespace
}  // namespace jointer
