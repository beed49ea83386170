#include "app/runner/program/program_builder.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/graphs.h"
#include "tests/support/processor_time.h"
#include "tests/support/sanitized.h"

namespace jointer::runner {
namespace {

// As in a capture that does not record the values of a list.
void forget_values(Graph& graph, const std::string& name) {
  graph.node(graph.find(name)).value = {};
}

TEST(ProgramBuilder, AListOfUnknownLengthHasASlotForEachValueUpToTheLastThatIsRead) {
  Graph graph = test::parse(R"(
    device cpu
    x: f32[8,4] = input
    s: (f32[2,4], f32[2,4], f32[2,4], f32[2,4]) = aten.split.Tensor(x, 2)
    c: f32[2,4] = s[2]
    a: f32[2,4] = s[0]
    t: (f32[2,4], f32[2,4], f32[2,4], f32[2,4]) = aten.split.Tensor(x, 2)
    d: f32[2,4] = t[1]
    return [c, a, d]
  )");
  forget_values(graph, "s");
  forget_values(graph, "t");
  const auto program = build_program(graph, {});
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_EQ(program->instructions.size(), 5U);
  EXPECT_EQ(program->instructions[0].result_count, 3U);
  EXPECT_EQ(program->instructions[3].result_count, 2U);
}

TEST(ProgramBuilder, ASymbolicFloatIsTheResultOfTheFirstNodeWithTheSameExpression) {
  Graph graph = test::parse(R"(
    device cpu
    x: f32[4] = input
    a: f32[] = input
    b: f32[] = input
    again: f32[] = input
    y: f32[4] = aten.mul.Tensor(x, 2.0)
    return [y]
  )");
  for (const auto& [name, symbol] :
       {std::pair("a", "zf1"), std::pair("b", "zf2"), std::pair("again", "zf2")}) {
    const StringId text = graph.intern(fmt::format(R"({{"symfloat":"{}"}})", symbol));
    graph.node(graph.find(name)).value = Value::of_text(Value::Kind::raw, text);
  }
  const std::array<Argument, 2> arguments{
      Argument::of_node(graph.find("x")),
      Argument::of_text(Argument::Kind::raw, graph.intern(R"({"symfloat":"zf2"})"))};
  const Argument list = graph.make_children(Argument::Kind::list, arguments);
  graph.node(graph.find("y")).args = list;
  const auto program = build_program(graph, {});
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_EQ(program->inputs.size(), 4U);
  ASSERT_EQ(program->instructions.size(), 1U);
  const Operand& number = program->operands[program->instructions[0].first_operand + 1];
  EXPECT_EQ(number.kind, Operand::Kind::as_tensor);
  EXPECT_EQ(number.index, program->inputs[2].slot);
}

TEST(ProgramBuilder, NamesTheCallThroughWhichARegionDependsOnItsOwnOutputs) {
  const Graph graph = test::parse(R"(
    device cpu
    x: f32[4] = input
    a: f32[4] = aten.relu(x)
    after: f32[4] = aten.neg(a)
    between: f32[4] = aten.sin(a)
    b: f32[4] = aten.add.Tensor(a, between)
    last: f32[4] = aten.cos(b)
    return [after, last]
  )");
  const std::vector<CompiledRegion> regions{{.label = "region 1",
                                             .nodes = {graph.find("a"), graph.find("b")},
                                             .inputs = {},
                                             .outputs = {},
                                             .function = {}}};
  const auto program = build_program(graph, {.regions = regions});
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().message,
            "compiled region 1 depends on its own outputs through between, which is not in the "
            "region; mark between too");
}

TEST(ProgramBuilder, AComplexNumberForATensorIsPromotedLikeANumber) {
  Graph graph = test::parse(R"(
    device cpu
    x: f32[4] = input
    y: f32[4] = aten.add.Tensor(x, 2.0)
    return [y]
  )");
  const std::array<Argument, 2> parts{Argument::of_real(0.5), Argument::of_int(1)};
  const std::array<Argument, 2> arguments{Argument::of_node(graph.find("x")),
                                          graph.make_children(Argument::Kind::complex, parts)};
  const Argument list = graph.make_children(Argument::Kind::list, arguments);
  graph.node(graph.find("y")).args = list;
  const auto program = build_program(graph, {});
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_EQ(program->instructions.size(), 1U);
  const Operand& number = program->operands[program->instructions[0].first_operand + 1];
  ASSERT_EQ(number.kind, Operand::Kind::constant);
  ASSERT_TRUE(program->constants[number.index].isTensor());
  const at::Tensor tensor = program->constants[number.index].toTensor();
  EXPECT_EQ(tensor.scalar_type(), at::kComplexDouble);
  EXPECT_TRUE(tensor.unsafeGetTensorImpl()->is_wrapped_number());
  EXPECT_EQ(tensor.item().toComplexDouble(), c10::complex<double>(0.5, 1));
}

TEST(ProgramBuilder, TheHandlesOfManyOperatorsThatAreArgumentsStayInPlace) {
  constexpr std::array kFunctions{"sin", "cos", "tan", "exp", "log", "neg", "abs", "sqrt"};
  std::string text = "device cpu\nx: f32[4] = input\n";
  for (const char* function : kFunctions)
    text += fmt::format("of_{}: f32[4] = aten.relu(x)\n", function);
  Graph graph = test::parse(text + "return [x]\n");
  const OperatorId saves_state = graph.intern_operator("run_and_save_rng_state");
  for (const char* function : kFunctions) {
    const StringId called = graph.intern(fmt::format("aten.{}.default", function));
    const std::array<Argument, 2> arguments{Argument::of_text(Argument::Kind::op, called),
                                            Argument::of_node(graph.find("x"))};
    const Argument list = graph.make_children(Argument::Kind::list, arguments);
    Node& node = graph.node(graph.find(fmt::format("of_{}", function)));
    node.target = saves_state;
    node.args = list;
  }
  ASSERT_LT(graph.operator_count(), kFunctions.size()) << "the graph names few operators itself";
  const auto program = build_program(graph, {});
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_EQ(program->instructions.size(), kFunctions.size());
  for (const Instruction& instruction : program->instructions)
    EXPECT_TRUE(std::ranges::any_of(program->handles,
                                    [&](const auto& handle) { return &handle == instruction.op; }));
}

TEST(ProgramBuilder, IsLinearInTheListsOfUnknownLength) {
  constexpr int kLists = 20'000;
  std::string text = "device cpu\nx: f32[8,4] = input\n";
  for (int i = 0; i < kLists; ++i)
    text += fmt::format(
        "s{0}: (f32[4,4], f32[4,4]) = aten.split.Tensor(x, 4)\na{0}: f32[4,4] = s{0}[1]\n", i);
  Graph graph = test::parse(text + "return [a0]\n");
  for (int i = 0; i < kLists; ++i) forget_values(graph, fmt::format("s{}", i));
  const double start = test::processor_ms();
  const auto program = build_program(graph, {});
  const double took = test::processor_ms() - start;
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->instructions.size(), 2U * kLists);
  RecordProperty("ms", fmt::format("{:.1f}", took));
  // A scan of all nodes for each list takes seconds.
#if defined(NDEBUG) && !JOINTER_IS_SANITIZED
  EXPECT_LT(took, 500);
#endif
}

}  // namespace
}  // namespace jointer::runner
