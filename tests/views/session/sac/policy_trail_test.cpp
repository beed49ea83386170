// Tests which edit set the policy of each node.

#include "views/session/sac/policy_trail.h"

#include <gtest/gtest.h>

#include "tests/support/graphs.h"

namespace jointer::views {
namespace {

TEST(PolicyTrails, NodesMayHaveOtherIdsInAnotherGraph) {
  const Graph opened = test::parse(R"(
    x: f32[4] = input
    y: f32[4] = aten.cos(x)
    return [y]
  )");
  // An edit added `b`, after another one added `a`; after redo, `b` has another id.
  const Graph now = test::parse(R"(
    x: f32[4] = input
    y: f32[4] = aten.cos(x)
    a: f32[4] = aten.sin(x)
    b: f32[4] = aten.sin(y)
    return [y, a, b]
  )");
  const Graph redone = test::parse(R"(
    x: f32[4] = input
    y: f32[4] = aten.cos(x)
    b: f32[4] = aten.sin(y)
    return [y, b]
  )");
  Edit edit;
  edit.changes.emplace_back(
      SetPolicy{.select = {}, .policy = MemoryPolicy::must_save, .nodes = {"b"}});
  const EditHistory history{std::make_shared<DoneEdit>(DoneEdit{edit, {}})};
  PolicyTrails trails;
  for (const Graph* graph : {&now, &redone, &now}) {
    const PolicyTrail trail = trails.follow(opened, *graph, history, history.size());
    for (const NodeId id : graph->order()) {
      const bool is_tagged = graph->name(id) == "b";
      EXPECT_EQ(trail.policies[id.index()],
                is_tagged ? MemoryPolicy::must_save : MemoryPolicy::none);
      EXPECT_EQ(trail.edits[id.index()], is_tagged ? 0 : -1);
    }
  }
}

}  // namespace
}  // namespace jointer::views
