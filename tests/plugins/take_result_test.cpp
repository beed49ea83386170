#include "plugins/hosted/take_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/capture/native_reader.h"
#include "core/capture/native_writer.h"
#include "core/graph/canonical.h"
#include "core/graph/literal.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;

Graph graph_of(const char* text) {
  auto graph = parse_literal(text);
  EXPECT_TRUE(graph) << graph.error().message;
  return *std::move(graph);
}

// As a host gives it back.
Graph through_file(const Graph& graph) {
  auto read = read_native("result", PaddedBytes(write_native(graph)));
  EXPECT_TRUE(read) << read.error().message;
  return *std::move(read);
}

const char* const kGraph = R"(
  group dp: 0 1
  x: f32[8] = input
  a: f32[8] = aten.relu(x)
  b: f32[8] = aten.neg(x)
  s: f32[8] = _c10d_functional.all_reduce(a, 'sum', 'dp')
  w: f32[8] = _c10d_functional.wait_tensor(s)
  c: f32[8] = aten.add.Tensor(w, b)
  return [c]
)";

class TakeResultTest : public testing::Test {
 protected:
  // Why the graph is a new one; empty if it is not.
  std::string replaced() const {
    return context.decisions().empty() ? "" : context.decisions()[0].reason;
  }

  PassContext::Options options;
  PassContext context{options};
};

TEST_F(TakeResultTest, AMoveKeepsIds) {
  Graph graph = graph_of(kGraph);
  Graph result = through_file(graph);
  const NodeId moved = result.find("b");
  result.move(std::span(&moved, 1), result.find("c"));
  const NodeId before = graph.find("b");
  take_result(graph, through_file(graph), result, context);
  EXPECT_EQ(graph.find("b"), before);
  EXPECT_EQ(graph_hash(graph), graph_hash(result));
  EXPECT_EQ(replaced(), "");
}

TEST_F(TakeResultTest, MarksAndGroupsComeAlong) {
  Graph graph = graph_of(kGraph);
  Graph result = through_file(graph);
  result.node(result.find("a")).custom = result.intern(R"({"compile_with_inductor":{}})");
  const GroupId twin = result.add_group({.name = result.intern("twin"), .ranks = {0, 1}});
  result.part(PartId(std::size_t{0})).groups.push_back(twin);
  Node& start = result.node(result.find("s"));
  std::vector<Argument> args(result.args(start).begin(), result.args(start).end());
  args[2] = Argument::of_text(Argument::Kind::string, result.intern("twin"));
  const Argument list = result.make_children(Argument::Kind::list, args);
  result.node(result.find("s")).args = list;
  result.refresh(result.find("s"));
  ASSERT_TRUE(result.finish());
  take_result(graph, through_file(graph), result, context);
  EXPECT_EQ(graph.text(graph.node(graph.find("a")).custom), R"({"compile_with_inductor":{}})");
  const Node& taken = graph.node(graph.find("s"));
  ASSERT_TRUE(taken.group);
  EXPECT_EQ(graph.group_label(taken.group), "twin");
  EXPECT_EQ(graph.group(taken.group).ranks.size(), 2U);
  EXPECT_EQ(replaced(), "");
}

TEST_F(TakeResultTest, WhereNoEditLeadsTheGraphIsNew) {
  Graph graph = graph_of(kGraph);
  const Graph result = graph_of("x: f32[8] = input\ny: f32[8] = input\nreturn [x, y]");
  take_result(graph, through_file(graph), result, context);
  EXPECT_EQ(graph_hash(graph), graph_hash(result));
  ASSERT_EQ(context.decisions().size(), 1U);
  EXPECT_EQ(context.decisions()[0].action, "replaced");
  EXPECT_THAT(context.decisions()[0].reason, HasSubstr("a new graph: y"));
}

}  // namespace
}  // namespace jointer::test
