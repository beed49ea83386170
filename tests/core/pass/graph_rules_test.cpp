#include "core/pass/graph_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;

const char kStep[] = R"(
  x: f32[8] = input
  a: f32[8] = aten.relu(x)
  return [a]
)";

// Passes that only have names; `mine` is a plugin's.
PassRegistry registry() {
  PassRegistry passes;
  const auto add = [&](const char* name, PassStage stage, const char* source) {
    const Pass pass{
        .info = {.name = name, .summary = "For tests.", .source = source, .stage = stage},
        .run = [](Graph&, const Arguments&, PassContext&) { return Result<void>(); }};
    EXPECT_TRUE(passes.add(pass));
  };
  add("min_cut_partition", PassStage::partition, "torch");
  add("auto_tune", PassStage::search, "Jointer");
  add("sink_waits", PassStage::reordering, "torch");
  add("multiplex_fw_bw_graph", PassStage::partition, "torch");
  add("mine", PassStage::reordering, "plugin: /somewhere");
  return passes;
}

std::string refusal(std::string_view kind, std::string_view pipeline) {
  const Graph graph = parse(fmt::format("kind {}\n{}", kind, kStep));
  const auto fits = check_graph(graph, *parse_pipeline(pipeline), registry());
  if (fits) return {};
  EXPECT_EQ(fits.error().kind, Error::Kind::usage);
  return fits.error().message;
}

TEST(GraphRules, APartitionerNeedsAJointGraph) {
  EXPECT_EQ(refusal("joint", "sink_waits,min_cut_partition,sink_waits"), "");
  EXPECT_EQ(refusal("train_step", "sink_waits,min_cut_partition"),
            "min_cut_partition needs a joint graph, but the graph is a flat training step");
  EXPECT_EQ(refusal("train_step", "~min_cut_partition"), "");
  EXPECT_EQ(
      refusal("joint", "min_cut_partition,sink_waits,min_cut_partition"),
      "min_cut_partition needs a joint graph, but min_cut_partition makes a forward/backward pair");
  EXPECT_EQ(refusal("joint", "min_cut_partition,multiplex_fw_bw_graph"), "");
  EXPECT_THAT(refusal("joint", "multiplex_fw_bw_graph"),
              HasSubstr("needs a forward/backward pair"));
}

TEST(GraphRules, PassesThatMayMakeAnyGraphAreNotSecondGuessed) {
  for (const char* first : {"auto_tune", "mine", "not_loaded"})
    EXPECT_EQ(refusal("train_step", fmt::format("{},min_cut_partition", first)), "") << first;
}

TEST(GraphRules, ChunksNeedAModelWithExpertsIfTheStepRequiresIt) {
  EXPECT_EQ(refusal("train_step", "ep_overlap_chunk"), "") << "it then changes nothing";
  EXPECT_EQ(refusal("train_step", "ep_overlap_chunk{require_all_to_all=false}"), "");
  EXPECT_THAT(refusal("train_step", "ep_overlap_chunk{require_all_to_all=true}"),
              HasSubstr("no all_to_all_single"));
  const Graph graph = parse(R"(
    kind train_step
    group ep: 0 1
    x: f32[8] = input
    a: f32[8] = _c10d_functional.all_to_all_single(x, [4, 4], [4, 4], 'ep')
    w: f32[8] = _c10d_functional.wait_tensor(a)
    return [w]
  )");
  EXPECT_TRUE(
      check_graph(graph, *parse_pipeline("ep_overlap_chunk{require_all_to_all=true}"), registry()));
}

TEST(GraphRules, EveryMistakeNamesItsStep) {
  const Graph graph = parse(fmt::format("kind train_step\n{}", kStep));
  const auto mistakes = find_graph_mistakes(
      graph,
      *parse_pipeline("sink_waits,ep_overlap_chunk{require_all_to_all=true},min_cut_partition"),
      registry());
  ASSERT_EQ(mistakes.size(), 2U);
  EXPECT_EQ(mistakes[0].step, 1U);
  EXPECT_EQ(mistakes[1].step, 2U);
}

}  // namespace
}  // namespace jointer::test
