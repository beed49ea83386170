#include "core/pass/pipeline_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace jointer::test {
namespace {

Pipeline parsed(std::string_view text) {
  const auto pipeline = parse_pipeline(text);
  EXPECT_TRUE(pipeline) << pipeline.error().message;
  return pipeline.value_or(Pipeline());
}

std::string message(std::string_view text) {
  const auto pipeline = parse_pipeline(text);
  return pipeline ? "" : pipeline.error().message;
}

TEST(PipelineText, ContainsStepsAndTheirParameters) {
  const Pipeline pipeline = parsed(
      "apply_sac{save=[aten.mm,\"aten.bmm, too\"], n=2 }, ~sink_waits,\n"
      "plan{a=true,b=none,c=0.05,d=-3,e=1e3,f=5GiB,g=[[x],[]]}");
  ASSERT_EQ(pipeline.size(), 3U);
  EXPECT_EQ(pipeline[0].pass, "apply_sac");
  EXPECT_EQ(pipeline[0].given[0].second, PassValue(PassValue::List{"aten.mm", "aten.bmm, too"}));
  EXPECT_EQ(pipeline[0].given[1].second, PassValue(2));
  EXPECT_FALSE(pipeline[1].is_enabled);
  const auto& given = pipeline[2].given;
  EXPECT_EQ(given[0].second, PassValue(true));
  EXPECT_TRUE(given[1].second.is_none());
  EXPECT_EQ(given[2].second, PassValue(0.05));
  EXPECT_EQ(given[3].second, PassValue(-3));
  EXPECT_EQ(given[4].second.held, PassValue(1000.0).held);
  EXPECT_EQ(given[5].second, PassValue("5GiB"));
  EXPECT_EQ(given[6].second,
            PassValue(PassValue::List{PassValue::List{"x"}, PassValue(PassValue::List{})}));
  EXPECT_TRUE(parsed("").empty());
  EXPECT_TRUE(parsed(" \n").empty());
}

TEST(PipelineText, NumbersKeepTheirSpelling) {
  const char* const text = "plan{a=1e3,b=007,c=0.50,d=[1E2],e=-0}";
  const Pipeline pipeline = parsed(text);
  EXPECT_EQ(to_text(pipeline), text);
  EXPECT_EQ(pipeline[0].given[1].second.held, PassValue(7).held);
  EXPECT_NE(pipeline[0].given[1].second, PassValue(7)) << "another text";
  EXPECT_EQ(value_of_word("0.5"), PassValue(0.5));
}

TEST(PipelineText, ErrorsNameTheLocation) {
  EXPECT_EQ(message("{a=1}"), "at the start of the pipeline: expected a pass name");
  EXPECT_EQ(message("a{b}"),
            "in the pipeline after `a{b`, at character 4: expected `=` and a value");
  EXPECT_EQ(message("a{b=[1,2}"),
            "in the pipeline after `a{b=[1,2`, at character 9: expected `,` or `]`");
  EXPECT_EQ(message("a{b=1,b=2}"),
            "in the pipeline after `a{b=1,b=`, at character 9: b is given twice");
  EXPECT_EQ(message("a{b=\"x}"),
            "in the pipeline after `a{b=`, at character 5: missing closing quote");
  // Neither the part of the text that is shown nor the position splits a character.
  EXPECT_EQ(message("ab{c=\"§§§§§§§§§§§§§§§§§§§§§§§§§\"]"),
            "in the pipeline after `…§§§§§§§§§§§§§§§§§§§\"`, at character 33: expected `,` or `}`");
  EXPECT_NE(message("a b"), "");
  EXPECT_NE(message("a,"), "");
  EXPECT_NE(message("a{b=" + std::string(1000, '[')), "");
}

PassValue any_value(int depth) {
  const int kind = *rc::gen::inRange(0, depth > 0 ? 6 : 5);
  if (kind == 0) return {};
  if (kind == 1) return *rc::gen::arbitrary<bool>();
  if (kind == 2) return *rc::gen::arbitrary<std::int64_t>();
  if (kind == 3) return *rc::gen::suchThat<double>([](double d) { return std::isfinite(d); });
  if (kind == 4)
    return *rc::gen::element<std::string>("", "a", "none", "3", "0x1", "1e5", "5GiB", "a b", "\"",
                                          "\\", "é\n", "-", "true", "inf", "layers.0", "[");
  PassValue::List list;
  const int size = *rc::gen::inRange(0, 4);
  for (int i = 0; i < size; ++i) list.push_back(any_value(depth - 1));
  return list;
}

RC_GTEST_PROP(PipelineTextProperty, RoundTrips, ()) {
  Pipeline pipeline;
  const int steps = *rc::gen::inRange(0, 4);
  for (int i = 0; i < steps; ++i) {
    PipelineStep step{.pass = *rc::gen::element<std::string>("a", "sink_waits", "x.y-z"),
                      .is_enabled = *rc::gen::arbitrary<bool>()};
    const int given = *rc::gen::inRange(0, 4);
    for (int g = 0; g < given; ++g) step.given.emplace_back("p" + std::to_string(g), any_value(2));
    pipeline.push_back(std::move(step));
  }
  const std::string text = to_text(pipeline);
  const auto read = parse_pipeline(text);
  RC_ASSERT(read.has_value());
  RC_ASSERT(*read == pipeline);
  RC_ASSERT(to_text(*read) == text);
}

RC_GTEST_PROP(PipelineTextProperty, AnyTextIsReadOrRefused, (const std::string& text)) {
  const auto read = parse_pipeline(text);
  if (!read) RC_ASSERT(!read.error().message.empty());
}

}  // namespace
}  // namespace jointer::test
