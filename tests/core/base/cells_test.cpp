#include "core/base/cells.h"

#include <gtest/gtest.h>

namespace jointer {
namespace {

TEST(Cells, CsvIsQuotedIfNeeded) {
  EXPECT_EQ(csv_cell("plain text"), "plain text");
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("say \"a\""), "\"say \"\"a\"\"\"");
  EXPECT_EQ(csv_cell("a\nb"), "\"a\nb\"");
}

TEST(Cells, MarkdownIsEscaped) {
  EXPECT_EQ(markdown_cell("plain, text (1)"), "plain, text (1)");
  EXPECT_EQ(markdown_cell("a|b\r\nc"), "a\\|b  c");
  EXPECT_EQ(markdown_cell("all_reduce *x* `y` [z]<t>\\"),
            "all\\_reduce \\*x\\* \\`y\\` \\[z\\]\\<t\\>\\\\");
}

}  // namespace
}  // namespace jointer
