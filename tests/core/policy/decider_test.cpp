// Who decided, according to the edits that set the tags.

#include "core/policy/decider.h"

#include <gtest/gtest.h>

#include "core/policy/tagging.h"
#include "core/policy/with_fsdp.h"
#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

constexpr const char* kLayer = R"(
  x: f32[8,8] = input
  w: f32[8,8] = parameter
  a: f32[8,8] = aten.mm(x, w)     {layers.0.wq}
  b: f32[8,8] = aten.silu(a)      {layers.0}
  dy: f32[8,8] = tangent
  g: f32[8,8] = aten.mul.Tensor(dy, b)  {backward}
  return [b, g]
)";

TEST(Decider, IsThePersonIfNoPassMadeTheEdit) {
  EXPECT_EQ(decider_of(""), Decider::user);
}

TEST(Decider, KnowsThePresets) {
  const Graph graph = parse(kLayer);
  for (const std::string& preset : upstream_presets())
    EXPECT_EQ(decider_of(preset_with_fsdp(graph, preset, MemoryPolicy::none)->by), Decider::preset)
        << preset;
}

TEST(Decider, AListIsNotAPreset) {
  const Graph graph = parse(kLayer);
  EXPECT_EQ(decider_of(apply_sac(graph, {.save = {"aten.mm"}})->by), Decider::list);
  EXPECT_EQ(decider_of(tag_with_memory_policy(graph, "full", {"aten.mm"})->by), Decider::list);
  EXPECT_EQ(decider_of(kImport), Decider::list);
  EXPECT_EQ(decider_of("apply_sac{save=[aten.mm]},min_cut_partition"), Decider::list);
}

// A list of changes that the user applies may come with an order.
TEST(Decider, IsThePersonWhoAppliedAnOrder) {
  for (const std::string& by : {decided_with(""), decided_with("place_collectives")})
    EXPECT_EQ(decider_of(by), Decider::user) << by;
  EXPECT_EQ(decider_of(searched_with("place_collectives")), Decider::search);
}

TEST(Decider, TheOrderIsPartOfTheOrigin) {
  constexpr std::string_view kOrder = "transformer_block_bucketing{bucket_mb=4},place_collectives";
  for (const std::string& by : {searched_with(kOrder), decided_with(kOrder)}) {
    EXPECT_TRUE(sets_order(by)) << by;
    EXPECT_EQ(order_of(by), kOrder);
  }
  // The plan's own order.
  for (const std::string& by : {searched_with(""), decided_with("")}) {
    EXPECT_TRUE(sets_order(by)) << by;
    EXPECT_EQ(order_of(by), "");
  }
  for (const std::string_view by :
       {"", "searching,place_collectives", "place_collectives", "apply_sac,min_cut_partition"}) {
    EXPECT_FALSE(sets_order(by)) << by;
    EXPECT_EQ(order_of(by), "");
  }
}

TEST(Decider, SearchesAndPartitionersAreNotPersons) {
  EXPECT_EQ(decider_of(kSearch), Decider::search);
  EXPECT_EQ(decider_of("search,min_cut_partition"), Decider::search);
  EXPECT_EQ(decider_of("min_cut_partition{activation_budget=0.5}"), Decider::partitioner);
}

}  // namespace
}  // namespace jointer::test
