#include "core/graph/python_text.h"

#include <gtest/gtest.h>

#include <string>

namespace jointer {
namespace {

class OpaqueText : public testing::TestWithParam<const char*> {};

TEST_P(OpaqueText, EndsAtItsDelimiter) {
  Graph graph;
  const PartId part = graph.add_part({});
  const std::string repr = GetParam(), text = repr + ", 7)";
  PythonText reader(graph, part, text, PythonText::Style::fx);
  const Argument argument = reader.argument();
  ASSERT_EQ(argument.kind, Argument::Kind::opaque);
  EXPECT_EQ(graph.text(argument.detail()), repr);
  EXPECT_TRUE(reader.take(','));
  EXPECT_EQ(reader.integer(), 7);
  EXPECT_TRUE(reader.take(')'));
  EXPECT_TRUE(reader.at_end());
}

INSTANTIATE_TEST_SUITE_P(Brackets, OpaqueText,
                         testing::Values("<function f at 0x7f12, (cpu)>",
                                         "<function <lambda> at 0x7f12>", "<Rule (a -> b, c): 1>",
                                         "Policy([1, 2], {'a)': 3})"));
INSTANTIATE_TEST_SUITE_P(Comparisons, OpaqueText,
                         testing::Values("Policy(a >= b)", "Policy((a >= b), c)", "Policy(a <= b)",
                                         "Policy(a > b, c)", "Policy((a < b), c)",
                                         "Policy(f -> g, <function f>)", "<Policy a >= b, c>"));

}  // namespace
}  // namespace jointer
