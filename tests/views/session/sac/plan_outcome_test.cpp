// Tests how the steps of a pair are aligned with those of its joint graph.

#include "views/session/sac/plan_outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tests/support/graphs.h"

namespace jointer::views {
namespace {

using testing::ElementsAre;

constexpr const char* kStep = R"(
  x: f32[4,4] = input
  a: f32[4,4] = aten.sin(x)
  b: f32[4,4] = aten.cos(a)
  c: f32[4,4] = aten.exp(b)
  dy: f32[4,4] = tangent
  g: f32[4,4] = aten.mul.Tensor(dy, c)   {backward}
  h: f32[4,4] = aten.mul.Tensor(g, b)    {backward}
  return [c, h]
)";

class PlaceStepsTest : public testing::Test {
 protected:
  [[nodiscard]] std::vector<double> places(const std::vector<std::string>& names) const {
    std::vector<NodeId> steps;
    for (const std::string& name : names) steps.push_back(graph_.find(name));
    return place_steps(memory_, steps);
  }

  Graph graph_ = test::parse(kStep);
  MemoryTimeline memory_{graph_};
};

TEST_F(PlaceStepsTest, TheSameCallsHaveTheSamePositions) {
  EXPECT_THAT(places({"a", "b", "c", "g", "h"}), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(PlaceStepsTest, RecomputationSharesTheSpaceOfItsReader) {
  EXPECT_THAT(places({"a", "b", "c", "b", "g", "h"}), ElementsAre(0, 1, 2, 3, 3.5, 4, 5));
  // Also before the last call.
  EXPECT_THAT(places({"a", "b", "c", "g", "b", "h"}), ElementsAre(0, 1, 2, 3, 4, 4.5, 5));
}

TEST_F(PlaceStepsTest, RemovedCallsLeaveTheirSpace) {
  EXPECT_THAT(places({"a", "c", "g", "h"}), ElementsAre(0, 1, 3, 4, 5));
}

TEST_F(PlaceStepsTest, TheLongestCommonOrderStaysInPlace) {
  // c runs early and shares the space of the following step.
  EXPECT_THAT(places({"a", "c", "b", "g", "h"}), ElementsAre(0, 1, 1.5, 2, 4, 5));
}

TEST_F(PlaceStepsTest, WithoutStepsThereIsOnlyTheEnd) {
  EXPECT_THAT(places({}), ElementsAre(5));
}

RC_GTEST_FIXTURE_PROP(PlaceStepsTest, PositionsNeverDecreaseAndStayWithinTheStep, ()) {
  const auto names = *rc::gen::container<std::vector<std::string>>(
      rc::gen::element<std::string>("a", "b", "c", "g", "h"));
  const std::vector<double> found = places(names);
  RC_ASSERT(found.size() == names.size() + 1);
  RC_ASSERT(std::is_sorted(found.begin(), found.end()));
  RC_ASSERT(found.front() >= 0 && found.back() == 5);
  // Each step has some width.
  for (std::size_t i = 1; i < found.size(); ++i) RC_ASSERT(found[i] > found[i - 1]);
}

}  // namespace
}  // namespace jointer::views
