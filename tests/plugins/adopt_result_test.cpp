#include "plugins/hosted/adopt_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/capture/native_reader.h"
#include "core/capture/native_writer.h"
#include "core/graph/canonical.h"
#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;

// As a host returns it.
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

class AdoptResultTest : public testing::Test {
 protected:
  // The reason why the graph is new; empty if it is not.
  std::string replaced() const {
    return context.decisions().empty() ? "" : context.decisions()[0].reason;
  }

  PassContext::Options options;
  PassContext context{options};
};

TEST_F(AdoptResultTest, AMoveKeepsIds) {
  Graph graph = parse(kGraph);
  Graph result = through_file(graph);
  const NodeId moved = result.find("b");
  result.move(std::span(&moved, 1), result.find("c"));
  const NodeId before = graph.find("b");
  ASSERT_TRUE(adopt_result(graph, through_file(graph), result, context));
  EXPECT_EQ(graph.find("b"), before);
  EXPECT_EQ(graph_hash(graph), graph_hash(result));
  EXPECT_EQ(replaced(), "");
}

TEST_F(AdoptResultTest, AnnotationsAndGroupsAreIncluded) {
  Graph graph = parse(kGraph);
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
  ASSERT_TRUE(adopt_result(graph, through_file(graph), result, context));
  EXPECT_EQ(graph.text(graph.node(graph.find("a")).custom), R"({"compile_with_inductor":{}})");
  const Node& taken = graph.node(graph.find("s"));
  ASSERT_TRUE(taken.group);
  EXPECT_EQ(graph.group_label(taken.group), "twin");
  EXPECT_EQ(graph.group(taken.group).ranks.size(), 2U);
  EXPECT_EQ(replaced(), "");
}

TEST_F(AdoptResultTest, TheGraphIsNewIfNoEditProducesIt) {
  Graph graph = parse(kGraph);
  const Graph result = parse("x: f32[8] = input\nk: f32[8] = constant\nreturn [k]");
  ASSERT_TRUE(adopt_result(graph, through_file(graph), result, context));
  EXPECT_EQ(graph_hash(graph), graph_hash(result));
  ASSERT_EQ(context.decisions().size(), 1U);
  EXPECT_EQ(context.decisions()[0].action, "replaced");
  EXPECT_THAT(context.decisions()[0].reason, HasSubstr("a new graph: k"));
}

// The file that the host returns lacks the distance between the ranks of the group.
TEST_F(AdoptResultTest, ANewGraphInheritsTheAssumptions) {
  Graph graph = parse(R"(
    x: f32[8] = input
    g: f32[32] = _c10d_functional.all_gather_into_tensor(x, 4, 'fsdp')
    w: f32[32] = _c10d_functional.wait_tensor(g)
    return [w]
  )");
  ASSERT_TRUE(graph.assume(Assumptions::parse("stride:fsdp=2").value()));
  const Graph result = parse(R"(
    x: f32[8] = input
    k: f32[8] = constant
    g: f32[32] = _c10d_functional.all_gather_into_tensor(k, 4, 'fsdp')
    w: f32[32] = _c10d_functional.wait_tensor(g)
    return [w]
  )");
  ASSERT_TRUE(adopt_result(graph, through_file(graph), result, context));
  EXPECT_FALSE(replaced().empty());
  EXPECT_EQ(graph.assumptions().text(), "stride:fsdp=2");
}

// The result of a pass on a graph with two inputs and three outputs, and the error message.
struct BrokenSignature {
  const char *name, *message;
  const char* outputs = "a, b, None";
  const char* calls = "a: f32[8] = aten.relu(x)\nb: f32[4] = aten.neg(y)\n";
  const char* inputs = "x: f32[8] = input\ny: f32[4] = input\n";
};

Graph graph_of(const BrokenSignature& signature) {
  return parse(
      fmt::format("{}{}return [{}]", signature.inputs, signature.calls, signature.outputs));
}

class BrokenSignatureTest : public AdoptResultTest,
                            public testing::WithParamInterface<BrokenSignature> {};

TEST_P(BrokenSignatureTest, IsRefused) {
  Graph graph = graph_of(BrokenSignature{});
  const std::string before = graph_hash(graph);
  const auto taken = adopt_result(graph, through_file(graph), graph_of(GetParam()), context);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().kind, Error::Kind::run);
  EXPECT_THAT(taken.error().message, testing::StartsWith(GetParam().message));
  EXPECT_EQ(graph_hash(graph), before);
  EXPECT_EQ(replaced(), "");
}

INSTANTIATE_TEST_SUITE_P(
    AdoptResult, BrokenSignatureTest,
    testing::Values(
        BrokenSignature{"FewerOutputs", "returned 2 outputs instead of 3; ", "b, None"},
        BrokenSignature{"NoneOutput", "returned None as output 1 instead of b; ", "a, None, None",
                        "a: f32[8] = aten.relu(x)\n"},
        BrokenSignature{"NoMoreNone", "returned b as output 2 instead of None; ", "a, b, b"},
        BrokenSignature{"OtherShape",
                        "returned b (f32[4] on cuda:0) as output 0 instead of a (f32[8] on ",
                        "b, a, None"},
        BrokenSignature{
            .name = "OtherType",
            .message = "returned a (bf16[8]",
            .calls =
                "a: bf16[8] = aten._to_copy(x, dtype=torch.bfloat16)\nb: f32[4] = aten.neg(y)\n"},
        BrokenSignature{.name = "InputsInAnotherOrder",
                        .message = "changed the order of the inputs: y is in the position of x; ",
                        .inputs = "y: f32[4] = input\nx: f32[8] = input\n"},
        BrokenSignature{.name = "AnInputLess",
                        .message = "removed the input x; ",
                        .calls = "a: f32[8] = aten.full([8], 0)\nb: f32[4] = aten.neg(y)\n",
                        .inputs = "y: f32[4] = input\n"},
        BrokenSignature{.name = "AnInputMore",
                        .message = "added the input z; ",
                        .inputs = "x: f32[8] = input\ny: f32[4] = input\nz: f32[4] = input\n"},
        BrokenSignature{.name = "AnotherInput",
                        .message = "changed the input y from f32[4]",
                        .calls = "a: f32[8] = aten.relu(x)\nb: f32[4] = aten.full([4], 0)\n",
                        .inputs = "x: f32[8] = input\ny: f32[6] = input\n"}),
    [](const auto& each) { return each.param.name; });

TEST_F(AdoptResultTest, DescriptorsStayAtTheirPositions) {
  Graph graph = parse(kGraph);
  const PartId part{std::size_t{0}};
  const NodeId output = graph.order().back(), x = graph.find("x");
  constexpr std::string_view kParameter = R"({"type":"ParamAOTInput","target":"w"})";
  graph.node(x).desc = graph.intern(kParameter);
  graph.node(output).desc = graph.intern(R"([{"type":"InputMutationAOTOutput"}])");
  graph = through_file(graph);
  Graph result = graph;
  const Graph given = graph;
  result.node(result.find("x")).desc = StringId();
  result.node(result.order().back()).desc = StringId();
  const NodeId added = result.find("b");
  result.node(added).target = result.intern_operator("aten.abs.default");
  ASSERT_TRUE(adopt_result(graph, given, through_file(result), context));
  EXPECT_EQ(graph.text(graph.node(graph.find("x")).desc), kParameter);
  EXPECT_EQ(graph.node(graph.find("x")).role, Role::parameter);
  EXPECT_EQ(graph.part(part).outputs[0].role, Role::mutation);
}

// A plugin may partition, which changes the signature.
TEST_F(AdoptResultTest, APairMayHaveADifferentSignature) {
  Graph graph = parse(R"(
    x: f32[8] = input
    t: f32[8] = tangent
    a: f32[8] = aten.relu(x)
    g: f32[8] = aten.mul.Tensor(t, a)
    return [a, g]
  )");
  Graph forward = parse("x: f32[8] = input\na: f32[8] = aten.relu(x)\nreturn [a]");
  Graph backward = parse(R"(
    a: f32[8] = saved
    t: f32[8] = tangent
    g: f32[8] = aten.mul.Tensor(t, a)
    return [g]
  )");
  forward.part(PartId(std::size_t{0})).kind = CaptureKind::forward;
  backward.part(PartId(std::size_t{0})).kind = CaptureKind::backward;
  const auto pair = read_native(
      "pair", PaddedBytes(fmt::format(R"({{"format":"jointer-capture","version":1,"kind":"pair",)"
                                      R"("forward":{},"backward":{}}})",
                                      write_native(forward), write_native(backward))));
  ASSERT_TRUE(pair) << pair.error().message;
  ASSERT_TRUE(adopt_result(graph, through_file(graph), *pair, context));
  EXPECT_TRUE(graph.is_pair());
}

}  // namespace
}  // namespace jointer::test
