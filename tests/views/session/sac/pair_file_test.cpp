// Tests the files that a plan or a pair is written to, to be opened in another tab.

#include "views/session/sac/pair_file.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/open/open.h"
#include "core/partition/partition.h"
#include "tests/support/judged_plan.h"

namespace jointer::views {
namespace {

// Without inputs, which need no memory.
std::set<std::string> calls_of(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::set<std::string> names;
  for (const NodeId node : nodes)
    if (graph.node(node).kind == NodeKind::call) names.insert(std::string(graph.name(node)));
  return names;
}

// At other budgets than the default, so that the plan differs from that of the partitioner. The
// numbers may differ a little: as in torch, tags make the pair pass on random states.
TEST(JointOfAPair, HasThePlanOfThePair) {
  const test::Judged& judged = test::judged_sample();
  for (const double budget : {0.7, 0.3, 0.0}) {
    PartitionOptions options;
    options.activation_budget = budget;
    const Partition whole = partition(judged.partition.joint, options).value();
    ASSERT_NE(whole.plan, judged.partition.plan) << budget;
    const Graph pair = emit_pair(whole.joint, whole.plan).value();
    const Result<QString> file = write_joint(pair, QStringLiteral("sample"));
    ASSERT_TRUE(file) << file.error().message;
    const Graph joint = open_graph({.path = file->toStdString()}).value();
    EXPECT_FALSE(joint.is_pair());
    const Partition opened = partition(joint).value();
    EXPECT_EQ(calls_of(opened.joint, opened.plan.saved), calls_of(whole.joint, whole.plan.saved))
        << budget;
    EXPECT_EQ(opened.plan.offloaded.size(), 0U);
  }
}

TEST(JointOfAPair, NeedsAPair) {
  const Result<QString> file =
      write_joint(test::judged_sample().partition.joint, QStringLiteral("sample"));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().kind, Error::Kind::usage);
}

}  // namespace
}  // namespace jointer::views
