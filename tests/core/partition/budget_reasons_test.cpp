// The values among which torch's knapsack chooses under a budget, and the reasons for its choice.

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/partition/activation_budget.h"
#include "core/partition/cut_preparation.h"
#include "core/partition/joint_parts.h"
#include "core/partition/min_cut.h"
#include "core/partition/partition.h"
#include "tests/support/graphs.h"
#include "tests/support/must.h"

namespace jointer::test {
namespace {

// Eight products m, and eight products q of a wide matrix, which cost more for each byte; the first
// `dear` of them twice as much as the others. The backward reads all.
std::string products(int dear) {
  std::string text = R"(
    x: f32[256,64] = input
    w: f32[64,64] = parameter
    u: f32[64,256] = parameter
    z: f32[256,64] = parameter
    dy: f32[] = tangent
  )";
  if (dear > 0) text += "u2: f32[64,512] = parameter\nz2: f32[512,64] = parameter\n";
  std::string last = "x", backward, outputs;
  const auto add = [&](const std::string& name, const std::string& with, int width) {
    text += fmt::format("{}: f32[256,{}] = aten.mm({}, {})  {{layers.{}}}\n", name, width, last,
                        with, name.back());
    last = name;
    if (width > 64) return;
    backward += fmt::format("g_{0}: f32[256,64] = aten.mul.Tensor({0}, dy)  {{backward}}\n", name);
    outputs += ", g_" + name;
  };
  for (int i = 0; i < 8; ++i) {
    add(fmt::format("m{}", i), "w", 64);
    add(fmt::format("p{}", i), i < dear ? "u2" : "u", i < dear ? 512 : 256);
    add(fmt::format("q{}", i), i < dear ? "z2" : "z", 64);
  }
  return text + fmt::format("y: f32[] = aten.sum({})\n{}return [y{}]\n", last, backward, outputs);
}

Partition solve(int dear, double budget) {
  return must(partition(parse(products(dear)), {.activation_budget = budget}));
}

bool is_saved(const Partition& found, const std::string& name) {
  return std::ranges::find(found.plan.saved, found.joint.find(name)) != found.plan.saved.end();
}

std::string reason(const Partition& found, const std::string& name) {
  return found.reasons[found.joint.find(name).index()].text;
}

TEST(BudgetReasons, ReportTies) {
  for (const double budget : {0.2, 0.3, 0.5}) {
    const Partition found = solve(0, budget);
    std::size_t saved = 0;
    for (int i = 0; i < 8; ++i) saved += is_saved(found, fmt::format("q{}", i)) ? 1U : 0U;
    ASSERT_GT(saved, 0U);
    ASSERT_LT(saved, 8U);
    // All give the same reason, whatever was decided about them.
    for (int i = 0; i < 8; ++i)
      EXPECT_EQ(reason(found, fmt::format("q{}", i)),
                fmt::format("one of 8 equal values (64.0 KiB for 8.39 MFLOP), of which {} {} in a "
                            "budget of {}.0%; the choice among them is arbitrary",
                            saved, saved == 1 ? "fits" : "fit", std::lround(budget * 100)));
  }
}

TEST(BudgetReasons, GiveTheCutOff) {
  const Partition found = solve(0, 0.5);
  for (int i = 1; i < 8; ++i)
    EXPECT_EQ(reason(found, fmt::format("m{}", i)),
              "not worth saving under a budget of 50.0%: 64.0 KiB for 2.10 MFLOP, 32.0 FLOP per "
              "byte; values up to 128 FLOP per byte are recomputed");
  const Partition some = solve(2, 0.5);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(is_saved(some, fmt::format("q{}", i)));
    EXPECT_EQ(reason(some, fmt::format("q{}", i)),
              "worth saving under a budget of 50.0%: 64.0 KiB for 16.8 MFLOP, 256 FLOP per byte; "
              "values up to 128 FLOP per byte are recomputed");
  }
}

// The names of the values that the knapsack chooses among.
std::vector<std::string> items(Graph joint, double budget) {
  const std::vector<TagSource> tags = prepare_for_cut(joint);
  const JointParts parts = must(find_joint_parts(joint));
  const MinCut problem(joint, parts, tags);
  const PartitionOptions options;
  const BudgetedCut chosen = must(ActivationBudget(joint, parts, problem, options).choose(budget));
  std::vector<std::string> names;
  for (const NodeId id : chosen.in_knapsack) names.emplace_back(joint.name(id));
  for (const NodeId id : chosen.left) names.emplace_back(joint.name(id));
  return names;
}

// torch compares storages, and takes "none" for one that all values without a storage share.
TEST(BudgetItems, ContainNoTuplesIfAnInputIsANumber) {
  std::string text = "n: f32[] = input\n" + products(0);
  text.replace(text.find("\ny: f32[]") + 1, 0, R"(
    drop: (f32[256,64], bool[256,64]) = aten.native_dropout(q7, 0.5, True)
    kept: f32[256,64] = drop[0]
    mask: bool[256,64] = drop[1]
  )");
  text.replace(text.find("return [y"), 0, R"(
    gd: f32[256,64] = aten.mul.Tensor(kept, dy)  {backward}
    gm: f32[256,64] = aten.mul.Tensor(mask, dy)  {backward}
  )");
  text.replace(text.find("sum(q7)"), 7, "sum(kept)");
  text.replace(text.rfind(']'), 1, ", gd, gm]");
  Graph graph = parse(text);
  EXPECT_THAT(items(graph, 0.5), testing::IsSupersetOf({"drop", "m1", "q0"}));
  Node& number = graph.node(graph.find("n"));
  number.value = Value::of_symbol(*graph.intern_expression(PartId(0), "s0", "16"));
  graph.refresh(graph.find("n"));
  ASSERT_TRUE(graph.finish());
  const std::vector<std::string> found = items(graph, 0.5);
  EXPECT_THAT(found, testing::IsSupersetOf({"m1", "q0"}));
  EXPECT_THAT(found, testing::Not(testing::Contains("drop")));
}

}  // namespace
}  // namespace jointer::test
