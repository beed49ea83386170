#include "core/graph/python_text.h"

#include <gtest/gtest.h>

#include <string>

namespace jointer {
namespace {

TEST(PythonText, MistakesNameTheColumn) {
  const auto mistake = [](const std::string& text) -> std::string {
    Graph graph;
    const PartId part = graph.add_part({});
    PythonText reader(graph, part, text, PythonText::Style::fx);
    try {
      static_cast<void>(reader.argument());
    } catch (const TextMistake& caught) {
      return caught.message;
    }
    return "accepted";
  };
  EXPECT_EQ(mistake("{'a': 1, 2.5: 3}"), "the dictionary key at column 10 is not a string");
  EXPECT_EQ(mistake("[1, 'ab"), "the string at column 5 lacks its closing quote");
  // A long text is cut between two characters.
  std::string name = "x";
  for (int i = 1; i < 40; ++i) name += "\u00e9";
  EXPECT_EQ(mistake("device('" + name + "\u00e9\u00e9')"), "`" + name + "` is not a device");
}

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

// By the functions that an expression may contain. Those that return a float stay opaque.
TEST(PythonText, CallsOfSizeFunctionsAreExpressions) {
  const auto kind = [](const std::string& call) {
    Graph graph;
    const PartId part = graph.add_part({});
    const std::string text = call + ", 7)";
    PythonText reader(graph, part, text, PythonText::Style::fx);
    return reader.argument().kind;
  };
  for (const char* size : {"Max(1, u0)", "CeilToInt(IntTrueDiv(u0, 2))", "FloorToInt(u0/2)",
                           "PowByNatural(u0, 2)", "Identity(u0)"})
    EXPECT_EQ(kind(size), Argument::Kind::symbol) << size;
  for (const char* other : {"IntTrueDiv(u0, 2)", "ToFloat(u0)", "Policy(u0)"})
    EXPECT_EQ(kind(other), Argument::Kind::opaque) << other;
}

}  // namespace
}  // namespace jointer
