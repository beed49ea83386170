#include "passes/bucketing/plan_dependencies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// `both` is the bucket of `a` and `b`; it reads `x`.
Graph bucketed() {
  return parse(R"(
    x: f32[4] = input
    a: f32[4] = aten.neg(x)
    b: f32[4] = aten.neg(x)
    other: f32[4] = aten.neg(x)
    both: f32[4] = aten.neg(other)
    user: f32[4] = aten.neg(x)
    return [user, both]
  )");
}

class Plan {
 public:
  void add(const char* node, const char* needed) { plan_.add(id(node), id(needed)); }
  void replace() {
    const std::vector<PlanDependencies::Replacement> members{{id("a"), id("both")},
                                                             {id("b"), id("both")}};
    plan_.replace(graph_, members);
    for (const char* member : {"a", "b"}) graph_.erase(id(member));
  }
  std::vector<std::string> edges() {
    std::vector<std::string> texts;
    for (const OrderEdge& edge : plan_.edges(graph_))
      texts.push_back(
          fmt::format("{} after {}", graph_.name(edge.after), graph_.name(edge.before)));
    return texts;
  }

 private:
  NodeId id(const char* name) { return graph_.find(name); }

  Graph graph_ = bucketed();
  PlanDependencies plan_{graph_.node_count()};
};

TEST(PlanDependencies, FollowTheBucketsOwnDependencies) {
  Plan plan;
  plan.add("user", "a");
  plan.add("user", "other");
  EXPECT_THAT(plan.edges(), ElementsAre("user after a", "user after other"));
  plan.replace();
  EXPECT_THAT(plan.edges(), ElementsAre("user after other", "user after both"));
}

TEST(PlanDependencies, AreDroppedBetweenMembers) {
  Plan plan;
  plan.add("b", "a");
  plan.replace();
  EXPECT_THAT(plan.edges(), IsEmpty());
}

TEST(PlanDependencies, AreDroppedIfReversed) {
  Plan plan;
  plan.add("b", "user");
  plan.add("user", "a");   // the bucket comes before and after it: the first member's counts
  plan.add("other", "b");  // an argument of the bucket
  plan.replace();
  EXPECT_THAT(plan.edges(), ElementsAre("user after both"));
}

}  // namespace
}  // namespace jointer::test
