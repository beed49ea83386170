#include "views/session/sac/solve_settings.h"

#include <gtest/gtest.h>

namespace jointer::views {
namespace {

TEST(SolveSettings, RoundTripThroughText) {
  for (const Partitioner partitioner : {Partitioner::min_cut, Partitioner::default_partition})
    for (const bool ignore_tags : {false, true})
      for (const double budget : {0.0, 0.1, 1.0 / 3, 1.0})
        for (const KnapsackSolver solver : {KnapsackSolver::dp, KnapsackSolver::knee_point}) {
          const SolveSettings settings{partitioner, ignore_tags, budget, solver};
          EXPECT_EQ(parse_solve(solve_text(settings)), settings) << solve_text(settings);
        }
  EXPECT_EQ(solve_text({}), "min_cut_partition");
}

TEST(SolveSettings, ADescriptionHasTheExactBudget) {
  EXPECT_EQ(describe({.activation_budget = 0.390625}), "min_cut, activation budget 0.390625");
  EXPECT_EQ(describe({.activation_budget = 0.5}), "min_cut, activation budget 0.5");
}

TEST(SolveSettings, AreTheLastPassOfAPipeline) {
  const auto settings = parse_solve("apply_sac{save=[aten.mm,aten.bmm]},default_partition");
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->partitioner, Partitioner::default_partition);
  EXPECT_FALSE(parse_solve("min_cut_partition,apply_sac{save=[aten.mm]}"));
}

TEST(SolveSettings, RejectOtherText) {
  for (const char* text :
       {"", "mm", "min_cut_partition{", "min_cut_partition{activation_budget=2}",
        "min_cut_partition{activation_budget=x}", "min_cut_partition{solver=best}",
        "min_cut_partition{ignore_tags}", "min_cut_partition{speed=1}", "min_cut_partition_2"})
    EXPECT_FALSE(parse_solve(text)) << text;
}

TEST(SolveSettings, AnEditWithTagsSolvesWithThem) {
  const Edit tags{.title = "full", .by = "tag_with_memory_policy{preset=full}"};
  const Edit edit = with_solve(tags, {.activation_budget = 0.5});
  EXPECT_EQ(edit.title, "full");
  ASSERT_TRUE(parse_solve(edit.by));
  EXPECT_EQ(parse_solve(edit.by)->activation_budget, 0.5);
  EXPECT_TRUE(edit.by.starts_with(tags.by));
}

}  // namespace
}  // namespace jointer::views
