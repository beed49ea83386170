// Trees are those of nlohmann's parser.

#include "core/base/json_text.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/processor_time.h"
#include "tests/support/sanitized.h"

namespace jointer::test {
namespace {

TEST(ParseTree, MatchesNlohmannsTree) {
  for (const std::string_view text :
       {"{}", "[]", "null", " [1, -2, 0, -0, 3.0, 1e2, 0.1, 1e-7, 123456789012345680000] ",
        "18446744073709551615", "18446744073709551616", "9223372036854775808",
        "-9223372036854775808", R"("\u00e9\ud83d\ude00\n\"\\")", R"({"b":1,"a":[true,false]})",
        R"({"a":1,"b":2,"a":3})", "1.7976931348623157e308", "5e-324"}) {
    const auto tree = parse_tree(text);
    ASSERT_TRUE(tree) << text;
    const auto expected = OrderedJson::parse(text);
    EXPECT_EQ(*tree, expected) << text;
    EXPECT_EQ(write_json(*tree), write_json(expected)) << text;
    EXPECT_EQ(tree->is_number_unsigned(), expected.is_number_unsigned()) << text;
  }
}

TEST(ParseTree, ReportsWhereTheTextIsDamaged) {
  for (const std::string_view text : {"", "{", "[1,]", "{\"a\" 1}", "[\"\xff\"]", "[1] 2", "nul"}) {
    const auto tree = parse_tree(text);
    ASSERT_FALSE(tree) << text;
    EXPECT_GT(tree.error().byte, 0U) << text;
  }
  EXPECT_EQ(parse_json("{\"a\":", "f").error().message, "f: invalid JSON near byte 6");
  EXPECT_EQ(parse_json("1e999", "f").error().message, "f: invalid JSON: a number is too large");
}

TEST(ParseTree, LimitsTheDepth) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(parse_tree(nested(kMaxJsonDepth)));
  EXPECT_TRUE(parse_tree(nested(5000)).error().is_too_deep);
  EXPECT_EQ(parse_json(nested(5000), "f").error().message, "f: nested more than 200 levels deep");
}

// In an object with many members, too, the last one of a name counts, at the position of the first.
TEST(ParseTree, RepeatedNamesInALargeObject) {
  std::string text = "{";
  for (int i = 0; i < 1000; ++i) text += fmt::format(R"("k{}":{},)", i % 400, i);
  text.back() = '}';
  const auto tree = parse_tree(text);
  ASSERT_TRUE(tree);
  EXPECT_EQ(*tree, OrderedJson::parse(text));
  EXPECT_EQ(tree->size(), 400U);
}

TEST(ParseTree, IsLinearInTheMembersOfAnObject) {
  std::string text = "{";
  for (int i = 0; i < 100'000; ++i) text += fmt::format(R"("member_{}":"value",)", i);
  text.back() = '}';
  const double start = processor_ms();
  const auto tree = parse_tree(text);
  const double took = processor_ms() - start;
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->size(), 100'000U);
  RecordProperty("ms", fmt::format("{:.1f}", took));
#if defined(NDEBUG) && !JOINTER_IS_SANITIZED
  EXPECT_LT(took, 300);
#endif
}

}  // namespace
}  // namespace jointer::test
