#include "core/pass/effects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/edit/edit.h"
#include "core/edit/merge.h"
#include "core/schedule/analysis.h"
#include "tests/support/graphs.h"
#include "tests/support/records.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

const char* const kGraph = R"(
  group fsdp: 0 1
  w0: f32[512,512] = parameter
  w1: f32[512,512] = parameter
  x: f32[512,512] = input
  g0: f32[1024,512] = _c10d_functional.all_gather_into_tensor(w0, 2, 'fsdp')
  v0: f32[1024,512] = _c10d_functional.wait_tensor(g0)
  g1: f32[1024,512] = _c10d_functional.all_gather_into_tensor(w1, 2, 'fsdp')
  v1: f32[1024,512] = _c10d_functional.wait_tensor(g1)
  a: f32[512,512] = aten.mm(x, x)
  y: f32[1024,512] = aten.mm(v0, a)
  z: f32[1024,512] = aten.mm(v1, a)
  return [y, z]
)";

class Effects : public testing::Test {
 protected:
  // Applies `edit` and returns its effects on the nodes.
  std::vector<std::string> of(const Edit& edit, const std::vector<std::string>& names) {
    Graph after = before_;
    const auto done = apply(after, edit);
    EXPECT_TRUE(done) << done.error().message;
    std::vector<Decision> decisions;
    for (const std::string& name : names) decisions.push_back({"p", name, "did", "Why."});
    const Analysis was = *analyze(before_, {}), is = *analyze(after, {});
    note_effects({before_, was.simulation}, {after, is.simulation}, *compare_graphs(before_, after),
                 decisions);
    std::vector<std::string> effects;
    for (const Decision& decision : decisions) effects.push_back(decision.effect);
    return effects;
  }
  static Edit edit_of(Change change) { return {.title = "t", .changes = {std::move(change)}}; }

  const Graph before_ = parse(kGraph);
};

TEST_F(Effects, AMoveReportsItsDistanceAndHiddenTime) {
  const auto effects = of(edit_of(MoveNodes{{"v1"}, "z"}), {"v1", "g1", "a", "", "absent"});
  EXPECT_THAT(effects[0], MatchesRegex("2 positions later; exposed .* -> .*"));
  EXPECT_THAT(effects[1], StartsWith("exposed ")) << "its collective did not move";
  EXPECT_EQ(effects[2], "") << "it did not change";
  EXPECT_EQ(effects[3], "") << "a decision about the whole graph";
  EXPECT_EQ(effects[4], "") << "there is no such node";
}

TEST_F(Effects, APolicyIsNamed) {
  EXPECT_EQ(of(edit_of(SetPolicy{.select = "a", .policy = MemoryPolicy::must_save}), {"a"})[0],
            "policy MUST_SAVE");
  EXPECT_EQ(
      of(edit_of(SetPolicy{.select = "a", .region = {.kind = RegionChange::Kind::set, .id = 3}}),
         {"a"})[0],
      "checkpointed region changed");
}

TEST_F(Effects, AChangedCallReportsItsOperator) {
  const auto effects =
      of(edit_of(ReplaceCall{.node = "a", .args = test::args_of(R"([{"n": "w0"}, {"n": "x"}])")}),
         {"a"});
  EXPECT_EQ(effects[0], "arguments changed");
}

TEST_F(Effects, ARemovedCallReportsItsReplacement) {
  const auto merged =
      merge_collectives(before_, std::vector{before_.find("g0"), before_.find("g1")});
  ASSERT_TRUE(merged) << merged.error().message;
  const auto effects = of(*merged, {"g0", "g1", "v1"});
  EXPECT_THAT(effects[0], StartsWith("removed"));
  EXPECT_THAT(effects[1], StartsWith("removed"));
  EXPECT_THAT(effects[0], HasSubstr("removed; replaced by all_gather_into_tensor")) << "the bucket";
  EXPECT_EQ(effects[1], "removed") << "the bucket is made in place of the first";
  EXPECT_EQ(effects[2], "calls aten.view.default") << "of the bucket's result";
}

}  // namespace
}  // namespace jointer::test
