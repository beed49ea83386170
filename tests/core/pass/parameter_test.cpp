#include "core/pass/parameter.h"

#include <gtest/gtest.h>

#include "core/pass/pipeline_text.h"

namespace jointer::test {
namespace {

const std::vector<Parameter>& declared() {
  using Type = Parameter::Type;
  static const std::vector<Parameter> kDeclared{
      {.name = "budget", .type = Type::number, .default_value = 0.2, .min = 0, .max = 1, .doc = ""},
      {.name = "limit", .type = Type::bytes, .min = 1, .doc = ""},
      {.name = "moves", .type = Type::integer, .default_value = 5, .doc = ""},
      {.name = "solver",
       .type = Type::text,
       .default_value = "dp",
       .choices = {"dp", "greedy"},
       .doc = ""},
      {.name = "save", .type = Type::list, .default_value = PassValue::List{}, .doc = ""},
      {.name = "reshard", .type = Type::boolean, .default_value = true, .doc = ""}};
  return kDeclared;
}

using Given = std::vector<std::pair<std::string, PassValue>>;

std::string refusal(const Given& given) {
  const auto arguments = Arguments::check(declared(), given);
  return arguments ? "" : arguments.error().message;
}

TEST(Parameter, OmittedValuesHaveTheirDefault) {
  const auto arguments = Arguments::check(declared(), {});
  ASSERT_TRUE(arguments);
  EXPECT_EQ(arguments->number("budget"), 0.2);
  EXPECT_FALSE(arguments->has_value("limit"));
  EXPECT_EQ(arguments->integer("moves"), 5);
  EXPECT_EQ(arguments->text("solver"), "dp");
  EXPECT_TRUE(arguments->texts("save").empty());
  EXPECT_TRUE(arguments->boolean("reshard"));
}

TEST(Parameter, ValuesAreConvertedToTheType) {
  const auto arguments = Arguments::check(
      declared(), Given{{"budget", 1}, {"limit", "5GiB"}, {"save", PassValue::List{"a", "b"}}});
  ASSERT_TRUE(arguments) << arguments.error().message;
  EXPECT_EQ(arguments->number("budget"), 1.0);
  EXPECT_EQ(arguments->integer("limit"), std::int64_t{5} << 30);
  EXPECT_EQ(arguments->texts("save"), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(Arguments::check(declared(), Given{{"limit", {}}}))
      << "allowed, since the default is none";
}

TEST(Parameter, ATextKeepsNumbersAsTheyWereWritten) {
  const std::vector<Parameter> label{{.name = "label", .type = Parameter::Type::text, .doc = ""}};
  for (const char* const written : {"1e3", "007", "0.50", "3", "-0", "0x10"}) {
    const auto arguments = Arguments::check(label, Given{{"label", value_of_word(written)}});
    ASSERT_TRUE(arguments) << arguments.error().message;
    EXPECT_EQ(arguments->text("label"), written);
  }
  const auto moves = Arguments::check(declared(), Given{{"moves", value_of_word("007")}});
  ASSERT_TRUE(moves);
  EXPECT_EQ(moves->value("moves"), PassValue(7)) << "only a text has a spelling";
}

TEST(Parameter, ErrorsNameTheMistake) {
  EXPECT_EQ(refusal({{"budget", 2}}), "budget: expected a number from 0 to 1, got 2");
  EXPECT_EQ(refusal({{"budget", "much"}}), "budget: expected a number from 0 to 1, got much");
  EXPECT_EQ(refusal({{"limit", 0}}),
            "limit: expected a number of bytes of at least 1, such as 5GiB, or none, got 0");
  EXPECT_EQ(refusal({{"moves", 0.5}}), "moves: expected an integer, got 0.5");
  EXPECT_EQ(refusal({{"solver", "ilp"}}), "solver: expected one of dp, greedy, got ilp");
  EXPECT_EQ(refusal({{"reshard", {}}}), "reshard: expected true or false, got none");
  EXPECT_EQ(refusal({{"reshard_", true}}),
            "there is no parameter reshard_; did you mean reshard? the parameters are budget, "
            "limit, moves, solver, save, reshard");
}

TEST(Parameter, ATextOfBytesNeedsAUnit) {
  EXPECT_EQ(refusal({{"limit", "40"}}).substr(0, 6), "limit:");
  EXPECT_EQ(refusal({{"limit", "40B"}}), "");
  EXPECT_EQ(refusal({{"limit", "1048576"}}), "");
  EXPECT_EQ(refusal({{"limit", 40}}), "") << "an integer is in bytes";
}

TEST(Parameter, NoneIsAcceptedOnlyIfAllowed) {
  const Parameter ratio{.name = "ratio",
                        .type = Parameter::Type::number,
                        .default_value = 0.05,
                        .may_be_none = true,
                        .min = 0,
                        .doc = ""};
  const auto none = Arguments::check(std::span(&ratio, 1), {{"ratio", {}}});
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_FALSE(none->has_value("ratio"));
  const auto default_value = Arguments::check(std::span(&ratio, 1), {});
  ASSERT_TRUE(default_value);
  EXPECT_EQ(default_value->number("ratio"), 0.05);
  EXPECT_EQ(range_text(ratio), "at least 0, or none");
}

TEST(Parameter, NumbersAreFinite) {
  EXPECT_EQ(refusal({{"budget", std::numeric_limits<double>::infinity()}}),
            "budget: expected a number from 0 to 1, got inf");
}

TEST(Parameter, ListsOfStringsRefuseOtherValues) {
  const Parameter save{.name = "save",
                       .type = Parameter::Type::list,
                       .default_value = PassValue::List{},
                       .is_of_texts = true,
                       .doc = ""};
  const auto arguments = Arguments::check(std::span(&save, 1), {{"save", PassValue::List{"a", 3}}});
  ASSERT_FALSE(arguments);
  EXPECT_EQ(arguments.error().message, "save[1]: expected a string, got 3");
}

}  // namespace
}  // namespace jointer::test
