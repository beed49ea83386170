#include "core/policy/tag_edit.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/pass/pipeline_text.h"

namespace jointer::test {
namespace {

TEST(PipelineList, IsReadAsTheSameTexts) {
  const std::vector<std::string> texts{"aten.mm", "a \"b\"", "a,b",  "a]",    "\\", "two\nlines",
                                       "",        "none",    "true", "false", "3",  "007",
                                       "1e3",     "-1.5",    "-",    "inf",   "~a", "layers.*"};
  const auto read = parse_pipeline("p{v=" + pipeline_list(texts) + "}");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 1U);
  ASSERT_EQ(read->front().given.size(), 1U);
  const PassValue expected(PassValue::List(texts.begin(), texts.end()));
  EXPECT_EQ(read->front().given.front().second, expected) << pipeline_list(texts);
}

TEST(PipelineList, NamesOfOperatorsHaveNoQuotes) {
  const std::vector<std::string> names{"aten.mm.default", "flex_attention"};
  EXPECT_EQ(pipeline_list(names), "[aten.mm.default,flex_attention]");
}

}  // namespace
}  // namespace jointer::test
