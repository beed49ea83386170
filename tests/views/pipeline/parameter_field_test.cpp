// Tests how form input is converted to values.

#include "views/pipeline/parameter_field.h"

#include <gtest/gtest.h>

namespace jointer::views {
namespace {

Parameter parameter(Parameter::Type type, PassValue default_value = {}) {
  Parameter made;
  made.name = "p";
  made.type = type;
  made.default_value = std::move(default_value);
  return made;
}

std::string typed(Parameter::Type type, const char* text) {
  const auto value = typed_value(parameter(type), QString::fromUtf8(text));
  return value ? to_text(*value) : "as by default";
}

TEST(TypedValue, MatchesTheParametersType) {
  using Type = Parameter::Type;
  EXPECT_EQ(typed(Type::integer, "12"), "12");
  EXPECT_EQ(typed(Type::number, " 0.5 "), "0.5");
  EXPECT_EQ(typed(Type::bytes, "1.5 GiB"), "1.5GiB");
  EXPECT_EQ(typed(Type::text, "layers.0"), "layers.0");
  EXPECT_EQ(typed(Type::text, "two words"), "\"two words\"");
  EXPECT_EQ(typed(Type::text, "12"), "\"12\"");
  EXPECT_EQ(typed(Type::text, "\"\""), "\"\"");
  EXPECT_EQ(typed(Type::text, "none"), "none");
  EXPECT_EQ(typed(Type::list, "a, b"), "[a,b]");
  EXPECT_EQ(typed(Type::list, "[a,[1,2]]"), "[a,[1,2]]");
  EXPECT_EQ(typed(Type::list, "[]"), "[]");
  for (const Type type : {Type::integer, Type::number, Type::bytes, Type::text, Type::list})
    EXPECT_EQ(typed(type, "  "), "as by default");
}

// Validation rejects them, and the input is kept.
TEST(TypedValue, InvalidInputStaysAsWritten) {
  using Type = Parameter::Type;
  for (const auto& [type, text] : {std::pair{Type::integer, "1,5"},
                                   {Type::number, "a lot"},
                                   {Type::bytes, "5 apples"},
                                   {Type::list, "[a"},
                                   {Type::list, "a,,b"}}) {
    const Parameter declared = parameter(type);
    const auto value = typed_value(declared, text);
    ASSERT_TRUE(value) << text;
    EXPECT_FALSE(Arguments::check(std::span(&declared, 1), {{"p", *value}})) << text;
  }
}

TEST(TypedText, ReadsBack) {
  const Parameter text = parameter(Parameter::Type::text);
  for (const char* each : {"layers.0", "two words", "12", "true"})
    EXPECT_EQ(typed_value(text, typed_text(PassValue(each))), PassValue(each));
  const Parameter list = parameter(Parameter::Type::list);
  const PassValue values(PassValue::List{"a", "b c", 3});
  EXPECT_EQ(typed_value(list, typed_text(values)), values);
}

TEST(ParameterField, ShowsTheDefaultAndReportsOnlyOtherValues) {
  ParameterField field(parameter(Parameter::Type::number, 0.5), false);
  std::vector<std::optional<PassValue>> reported;
  QObject::connect(&field, &ParameterField::edited,
                   [&](const std::optional<PassValue>& value) { reported.push_back(value); });
  EXPECT_EQ(field.line()->placeholderText(), "0.5 (default)");
  field.line()->setText("0.25");
  emit field.line()->textEdited("0.25");
  field.line()->setText("0.5");
  emit field.line()->textEdited("0.5");
  ASSERT_EQ(reported.size(), 2U);
  EXPECT_EQ(reported[0], PassValue(0.25));
  EXPECT_FALSE(reported[1]) << "the default";
  // Showing the resulting value does not replace the input.
  field.show_value(std::nullopt);
  EXPECT_EQ(field.line()->text(), "0.5");
  field.show_value(PassValue(0.75));
  EXPECT_EQ(field.line()->text(), "0.75");
}

TEST(ParameterField, ReportsNoneOnlyIfItIsNotTheDefault) {
  const auto reported = [](const Parameter& declared) {
    ParameterField field(declared, false);
    std::optional<PassValue> last(PassValue("nothing"));
    QObject::connect(&field, &ParameterField::edited,
                     [&](const std::optional<PassValue>& value) { last = value; });
    emit field.line()->textEdited("none");
    EXPECT_TRUE(field.mistake().isEmpty()) << field.mistake().toStdString();
    return last;
  };
  using Type = Parameter::Type;
  for (const Type type : {Type::integer, Type::number, Type::bytes, Type::text}) {
    EXPECT_FALSE(reported(parameter(type)));
    Parameter declared =
        parameter(type, type == Type::text ? PassValue("a") : PassValue(std::int64_t{1}));
    declared.may_be_none = true;
    EXPECT_EQ(reported(declared), PassValue());
  }
}

TEST(ParameterField, OffersNoneAmongChoices) {
  Parameter text = parameter(Parameter::Type::text, "a");
  text.choices = {"a", "b"};
  for (Parameter declared : {text, parameter(Parameter::Type::boolean, true)}) {
    const ParameterField without(declared, false);
    EXPECT_TRUE(without.choice() == nullptr || without.choice()->findData("none") == -1);
    declared.may_be_none = true;
    ParameterField field(declared, false);
    ASSERT_NE(field.choice(), nullptr);
    std::optional<PassValue> reported;
    QObject::connect(&field, &ParameterField::edited,
                     [&](const std::optional<PassValue>& value) { reported = value; });
    field.choice()->setCurrentIndex(field.choice()->findData("none"));
    emit field.choice()->activated(field.choice()->currentIndex());
    EXPECT_EQ(reported, PassValue());
    EXPECT_TRUE(field.mistake().isEmpty());
  }
}

}  // namespace
}  // namespace jointer::views
