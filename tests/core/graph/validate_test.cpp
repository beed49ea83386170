// Breaks one thing in a sound graph, and expects an error that names it.

#include "core/graph/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tests/support/graphs.h"
#include "tests/support/random_graph.h"

namespace jointer::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string complaint(const Graph& graph) {
  const auto result = validate(graph);
  return result ? "sound" : result.error().message;
}

Graph small() {
  return parse(R"(
    x: f32[4,4] = input
    a: f32[4,4] = aten.relu(x)
    b: f32[4,4] = aten.mul.Tensor(a, x)
    c: f32[4,4] = aten.mul.Tensor(b, a)
    return [c]
  )");
}

void move_to_end(Graph& graph, std::string_view name) {
  std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  const auto at = std::find(order.begin(), order.end(), graph.find(name));
  std::rotate(at, at + 1, order.end());
  graph.set_order(std::move(order));
}

TEST(Validate, AcceptsASoundGraph) {
  EXPECT_EQ(complaint(small()), "sound");
}

TEST(Validate, NamesAReadBeforeItsProducer) {
  Graph graph = small();
  std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  std::swap(order[1], order[2]);  // b precedes a
  graph.set_order(std::move(order));
  EXPECT_THAT(complaint(graph), AllOf(HasSubstr("node b (aten.mul.Tensor): argument[0] reads a"),
                                      HasSubstr("comes later"), HasSubstr("cyclic")));
}

TEST(Validate, NamesANodeThatReadsItself) {
  Graph graph = small();
  const NodeId c = graph.find("c");
  const std::array arguments{Argument::of_node(graph.find("b")), Argument::of_node(c)};
  graph.node(c).args = graph.make_children(Argument::Kind::list, arguments);
  graph.refresh(c);
  EXPECT_THAT(complaint(graph), AllOf(HasSubstr("node c"), HasSubstr("argument[1] reads c"),
                                      HasSubstr("the node itself")));
}

TEST(Validate, NamesAKeywordAndANestedArgument) {
  Graph graph = small();
  const NodeId a = graph.find("a");
  const std::array inner{Argument::of_int(1), Argument::of_node(graph.find("c"))};
  const std::array pair{Argument::of_text(Argument::Kind::string, graph.intern("other")),
                        graph.make_children(Argument::Kind::tuple, inner)};
  graph.node(a).kwargs = graph.make_children(Argument::Kind::dict, pair);
  graph.refresh(a);
  EXPECT_THAT(complaint(graph),
              HasSubstr("node a (aten.relu.default): argument `other`[1] reads c"));
}

TEST(Validate, NamesAnInputOfTheOtherHalf) {
  Graph graph = random_graph(1, {.pair = true});
  NodeId forward, backward;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.part == PartId(0) && !forward) forward = id;
    if (n.part == PartId(1) && n.kind == NodeKind::call && !backward) backward = id;
  }
  const std::array arguments{Argument::of_node(forward)};
  graph.node(backward).args = graph.make_children(Argument::Kind::list, arguments);
  graph.refresh(backward);
  EXPECT_THAT(complaint(graph),
              AllOf(HasSubstr("backward): argument[0] reads " + std::string(graph.name(forward))),
                    HasSubstr("in the other half")));
}

TEST(Validate, NamesTheOutput) {
  Graph graph = small();
  move_to_end(graph, "c");
  // The output now reads c, which comes later.
  EXPECT_THAT(complaint(graph), HasSubstr("node output"));
  Graph unused = parse("x: f32[4] = input\na: f32[4] = aten.relu(x)\nreturn [x]");
  move_to_end(unused, "a");
  EXPECT_THAT(complaint(unused), AllOf(HasSubstr("node a"), HasSubstr("after the output")));
  unused.node(unused.find("output")).kind = NodeKind::placeholder;
  EXPECT_THAT(complaint(unused), HasSubstr("0 output nodes"));
}

TEST(Validate, CountsCallsOfUnknownOperators) {
  for (const char* name : {"aten.mul.Sideways", "mine.mul.Sideways", "frobnicate"}) {
    Graph graph = small();
    graph.node(graph.find("b")).target = graph.intern_operator(name);
    EXPECT_EQ(complaint(graph), "sound") << name;
    const auto warnings = find_warnings(graph);
    ASSERT_EQ(warnings.size(), 1U) << name;
    EXPECT_THAT(warnings.front(), AllOf(HasSubstr("1 call of 1 operator"), HasSubstr(name)));
    graph.add_operator_schema(name, "(Tensor self, Tensor other) -> Tensor");
    EXPECT_TRUE(find_warnings(graph).empty()) << name;
  }
}

TEST(Validate, NamesDuplicatesAndEmptyNames) {
  Graph graph = small();
  graph.node(graph.find("c")).name = graph.node(graph.find("b")).name;
  EXPECT_THAT(complaint(graph), AllOf(HasSubstr("node b"), HasSubstr("same name")));
  Graph nameless = small();
  nameless.node(nameless.find("b")).name = nameless.intern("");
  EXPECT_THAT(complaint(nameless), HasSubstr("node 2 has no name"));
}

TEST(Validate, NamesStoragesAndSizes) {
  Graph graph = small();
  graph.storage(StorageId(1)).bytes.value = -1;
  EXPECT_THAT(complaint(graph), HasSubstr("storage 1 has a negative size of -1"));
  graph.storage(StorageId(1)).bytes.value = std::int64_t{1} << 62;
  EXPECT_THAT(complaint(graph), HasSubstr("add up to more than 4 EiB"));
  EXPECT_FALSE(validate_sizes(graph).has_value());

  Graph sizes = small();
  const std::array<Dim, 1> negative{Dim{.value = -3}};
  sizes.node(sizes.find("b")).value =
      Value::of_tensor(sizes.add_tensor({.storage = StorageId(0)}, negative, {}, {}));
  sizes.refresh(sizes.find("b"));
  EXPECT_THAT(complaint(sizes), AllOf(HasSubstr("node b"), HasSubstr("size -3 is negative")));

  Graph symbolic = small();
  const auto expression = symbolic.intern_expression(PartId(0), "u0 - 9", {});
  ASSERT_TRUE(expression) << expression.error().message;
  const std::array<Dim, 1> derived{Dim{.value = -3, .expression = *expression}};
  symbolic.node(symbolic.find("b")).value =
      Value::of_tensor(symbolic.add_tensor({.storage = StorageId(0)}, derived, {}, {}));
  symbolic.refresh(symbolic.find("b"));
  EXPECT_THAT(complaint(symbolic),
              HasSubstr("size -3 is negative (`u0 - 9` under the assumed sizes; change them with "
                        "--assume)"));
}

TEST(Validate, NamesAnInvalidOrder) {
  Graph graph = small();
  std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  order[1] = order[2];
  graph.set_order(std::move(order));
  EXPECT_THAT(complaint(graph), HasSubstr("the program order names node 2 twice"));
}

TEST(Validate, CountsDescriptorsOfOutputs) {
  Graph graph = small();
  Node& output = graph.node(graph.order().back());
  output.desc = graph.intern(R"([{"type":"PlainAOTOutput"}])");
  EXPECT_EQ(complaint(graph), "sound");
  output.desc = graph.intern(R"([{"type":"PlainAOTOutput"},{"type":"PlainAOTOutput"}])");
  EXPECT_THAT(complaint(graph), HasSubstr("(output) returns 1 value, but `desc` describes 2"));
}

TEST(Validate, WarnsAboutToleratedFaults) {
  const Graph graph = parse(R"(
    group tp: 0 1
    x: f32[4] = input
    a: f32[4] = _c10d_functional.all_reduce(x, 'sum', 'tp')
    w: f32[4] = _c10d_functional.wait_tensor(x)
    m: f32[4] = mine.op.default(x)
    r: f32[4] = aten.relu(x)
    u: f32[4] = _c10d_functional.wait_tensor(r)
    return [w, a, m, u]
  )");
  const auto warnings = find_warnings(graph);
  EXPECT_THAT(warnings, testing::Contains(HasSubstr("1 wait does not wait for a collective")));
  EXPECT_THAT(warnings, testing::Contains(HasSubstr("1 call of 1 operator without a schema")));
  EXPECT_THAT(warnings, testing::Not(testing::Contains(HasSubstr("process group"))));
}

// Moving a node before one of its producers is detected everywhere.
RC_GTEST_PROP(ValidateProperty, FindsEveryBrokenOrder, (std::uint64_t seed)) {
  Graph graph = random_graph(seed);
  std::vector<NodeId> readers;
  for (const NodeId id : graph.order())
    if (!graph.inputs(id).empty()) readers.push_back(id);
  const NodeId reader = *rc::gen::elementOf(readers);
  const auto inputs = graph.inputs(reader);
  const NodeId producer = inputs[*rc::gen::inRange<std::size_t>(0, inputs.size())];
  std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  const auto to = static_cast<std::ptrdiff_t>(graph.position(producer));
  const auto from = static_cast<std::ptrdiff_t>(graph.position(reader));
  std::rotate(order.begin() + to, order.begin() + from, order.begin() + from + 1);
  graph.set_order(std::move(order));
  const std::string message = complaint(graph);
  RC_ASSERT(message.find("node " + std::string(graph.name(reader)) + " ") != std::string::npos);
  RC_ASSERT(message.find("comes later") != std::string::npos);
}

}  // namespace
}  // namespace jointer::test
