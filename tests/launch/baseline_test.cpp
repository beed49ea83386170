#include "app/launch/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/literal.h"

namespace jointer::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

constexpr const char* kChooseAnother = "; choose a baseline with the same outputs";

Graph graph(std::string_view text) {
  auto graph = parse_literal(text);
  EXPECT_TRUE(graph) << graph.error().message;
  return *std::move(graph);
}

Graph one() {
  return graph("x: f32[8,4] = input\ny: f32[8,4] = aten.relu(x)\nreturn [y]");
}

std::string refused(const Graph& baseline) {
  const auto checked = check_baseline(one(), baseline);
  EXPECT_FALSE(checked);
  if (checked) return {};
  EXPECT_EQ(checked.error().kind, Error::Kind::usage);
  return checked.error().message;
}

TEST(Baseline, OtherNodesMayComputeTheSameOutputs) {
  EXPECT_TRUE(check_baseline(one(), one()));
  EXPECT_TRUE(check_baseline(
      one(), graph("a: f32[8,4] = input\nb: f32[8,4] = aten.neg(a)\nc: f32[8,4] = aten.exp(b)\n"
                   "return [c]")));
}

TEST(Baseline, TheNumberOfOutputsMustBeEqual) {
  EXPECT_THAT(refused(graph("x: f32[8,4] = input\ny: f32[8,4] = aten.relu(x)\nreturn [y, x]")),
              AllOf(HasSubstr("has 2 outputs, but"), EndsWith(kChooseAnother)));
}

TEST(Baseline, ShapesAndTypesMustBeEqual) {
  EXPECT_THAT(refused(graph("x: f32[8,2] = input\ny: f32[8,2] = aten.relu(x)\nreturn [y]")),
              AllOf(HasSubstr("is float32[8,2] in the baseline"), EndsWith(kChooseAnother)));
  EXPECT_THAT(refused(graph("x: bf16[8,4] = input\ny: bf16[8,4] = aten.relu(x)\nreturn [y]")),
              HasSubstr("is bfloat16[8,4] in the baseline"));
  EXPECT_THAT(refused(graph("x: f32[8,4] = input\ny: f32[8,4] = aten.relu(x)\nreturn [None]")),
              HasSubstr("is None in the baseline"));
  EXPECT_THAT(refused(graph("x: f32[32] = input\ny: f32[32] = aten.relu(x)\nreturn [y]")),
              HasSubstr("output 0 is float32[32] in the baseline"));
}

}  // namespace
}  // namespace jointer::test
