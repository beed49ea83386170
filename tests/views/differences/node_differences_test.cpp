// Tests without a window: the short texts that the Compare pane shows for nodes that differ.

#include "views/differences/node_differences.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/support/graphs.h"

namespace jointer::views {
namespace {

std::string detail(std::string_view before, const std::function<void(Graph&)>& change,
                   std::string_view after = {}) {
  const auto from = std::make_shared<Graph>(test::parse(before));
  const auto to = std::make_shared<Graph>(test::parse(after.empty() ? before : after));
  change(*to);
  const auto found = NodeDifferences::find(from, to);
  if (!found || found->nodes().size() != 1) return "not one difference";
  return found->detail(found->nodes().front()).toStdString();
}

constexpr const char* kRelu = "x: f32[4,8] = input\na: f32[4,8] = aten.relu(x)\nreturn [a]";

TEST(NodeDifferences, a_changed_node_says_what_differs) {
  const auto nothing = [](Graph&) {};
  EXPECT_EQ(detail(kRelu, nothing, "x: f32[4,8] = input\na: f32[4,8] = aten.silu(x)\nreturn [a]"),
            "was aten.relu.default");
  EXPECT_EQ(
      detail(kRelu, nothing, "x: f32[4,8] = input\na: f32[4,8] = aten.relu(x, 1)\nreturn [a]"),
      "arguments changed");
  EXPECT_EQ(detail(kRelu, nothing, "x: f32[4,8] = input\na: f32[8,8] = aten.relu(x)\nreturn [a]"),
            "result changed");
  const auto transpose = [](Graph& graph) {
    const NodeId a = graph.find("a");
    const Tensor tensor = graph.tensors(a).front();
    const std::vector<Dim> shape{{4, {}}, {8, {}}}, stride{{1, {}}, {4, {}}};
    graph.node(a).value =
        Value::of_tensor(graph.add_tensor(tensor, shape, stride, graph.offset(tensor)));
    graph.refresh(a);
  };
  EXPECT_EQ(detail(kRelu, transpose), "stride [1,4], was [8,1]");
}

TEST(NodeDifferences, the_summary_says_one_node) {
  const auto summary = [](std::string_view before, std::string_view after) {
    const auto found = NodeDifferences::find(std::make_shared<Graph>(test::parse(before)),
                                             std::make_shared<Graph>(test::parse(after)));
    return found ? found->summary().toStdString() : std::string();
  };
  EXPECT_EQ(summary("return []", "y: f32[4] = input\nreturn []"), "0 of 1 node moved · 1 added");
}

}  // namespace
}  // namespace jointer::views
