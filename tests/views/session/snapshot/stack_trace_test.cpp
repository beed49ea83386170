#include "views/session/snapshot/stack_trace.h"

#include <gtest/gtest.h>

namespace jointer::views {
namespace {

TEST(StackTrace, ReadsFramesAndTheirCode) {
  const auto frames = parse_stack(
      "  File \"model.py\", line 574, in forward\n    h = self.embed(tokens)\n"
      "File \"a b/fsdp.py\", line 141, in <lambda>\n");
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0].file, "model.py");
  EXPECT_EQ(frames[0].line, 574);
  EXPECT_EQ(frames[0].function, "forward");
  EXPECT_EQ(frames[0].code, "h = self.embed(tokens)");
  EXPECT_EQ(frames[1].file, "a b/fsdp.py");
  EXPECT_EQ(frames[1].code, "");
}

TEST(StackTrace, SkipsOtherLines) {
  EXPECT_TRUE(parse_stack("").empty());
  EXPECT_TRUE(parse_stack("some text\nFile \"x\", line many\nFile \"x").empty());
}

}  // namespace
}  // namespace jointer::views
