#include "core/policy/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/partition/partition.h"
#include "tests/support/graphs.h"
#include "tests/support/names.h"

namespace jointer::test {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

// Two layers. The backward of each reads all of its values, and the gathered parameter.
constexpr std::string_view kCheckpointStep = R"(
  kind train_step
  w: f32[8,8] = parameter
  x: f32[8,8] = input
  e: f32[8,8] = aten.sin(x)
  wa: f32[8,8] = aten.relu(w)  {layers.0}
  a: f32[8,8] = aten.mm(e, wa)  {layers.0}
  b: f32[8,8] = aten.exp(a)  {layers.0}
  c: f32[8,8] = aten.cos(b)  {layers.1}
  d: f32[8,8] = aten.exp(c)  {layers.1}
  l: f32[] = aten.sum(d)
  g: f32[8,8] = aten.mul.Tensor(d, c)  {backward layers.1}
  h: f32[8,8] = aten.mul.Tensor(g, b)  {backward layers.1}
  i: f32[8,8] = aten.mm(h, wa)  {backward layers.0}
  j: f32[8,8] = aten.mul.Tensor(i, a)  {backward layers.0}
  k: f32[8,8] = aten.mul.Tensor(j, e)  {backward}
  return [l, k])";

class Checkpoint : public testing::Test {
 protected:
  Checkpoint()
      : graph_(parse(kCheckpointStep)),
        what_if_(graph_, std::vector<NodeCost>(graph_.node_count()),
                 std::vector<Flops>(graph_.node_count())) {
    std::vector<NodeId> all;
    for (const NodeId id : graph_.order()) all.push_back(id);
    plan_ = what_if_.plan_of(all, {}).value();
  }
  Result<PlanChange> checkpointed(const std::vector<std::string>& modules) {
    JOINTER_TRY(const auto groups, calls_of_modules(graph_, modules));
    return checkpoint(graph_, what_if_, plan_, groups);
  }
  [[nodiscard]] std::vector<std::string> saved(const Result<PlanChange>& change) const {
    return names(graph_, change.value().plan.saved);
  }

  Graph graph_;
  PlanWhatIf what_if_;
  SavePlan plan_;
};

TEST_F(Checkpoint, SavesOnlyTheInputOfALayer) {
  EXPECT_THAT(saved(checkpointed({"layers.1"})), UnorderedElementsAre("e", "wa", "a", "b"));
}

// The backward of the next layer reads `b`, which that layer saves as its input.
TEST_F(Checkpoint, TheNextLayerStillSavesItsInput) {
  EXPECT_THAT(saved(checkpointed({"layers.0"})), UnorderedElementsAre("e", "wa", "b", "c", "d"));
}

TEST_F(Checkpoint, SavesTheInputOfEachLayer) {
  EXPECT_THAT(saved(checkpointed({"layers.0", "layers.1"})), UnorderedElementsAre("e", "wa", "b"));
  const NodeId some[] = {graph_.find("a"), graph_.find("d")};
  const auto layers = calls_of_layers(graph_, some);
  EXPECT_EQ(layers.size(), 2U);
  EXPECT_THAT(saved(checkpoint(graph_, what_if_, plan_, layers)),
              UnorderedElementsAre("e", "wa", "b"));
}

TEST_F(Checkpoint, RefusesAModuleThatIsNotThere) {
  const auto change = checkpointed({"layers.7"});
  ASSERT_FALSE(change);
  EXPECT_EQ(change.error().kind, Error::Kind::usage);
  EXPECT_THAT(change.error().message, HasSubstr("layers.7"));
}

}  // namespace
}  // namespace jointer::test
