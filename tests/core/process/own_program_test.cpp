#include "core/process/own_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace jointer {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

constexpr OwnProgram kNone{.name = "jointer-no-such-program",
                           .purpose = "does nothing",
                           .variable = "JOINTER_TEST_PROGRAM",
                           .if_missing = "set JOINTER_TEST_PROGRAM to its path"};

class OwnPrograms : public testing::Test {
 protected:
  ~OwnPrograms() override { ::unsetenv(kNone.variable); }
};

TEST_F(OwnPrograms, TheVariableNamesAFileOrAProgramOnPath) {
  ::setenv(kNone.variable, "/bin/sh", 1);
  EXPECT_EQ(find_own_program(kNone).value(), "/bin/sh");
  ::setenv(kNone.variable, "sh", 1);
  EXPECT_THAT(find_own_program(kNone).value(), EndsWith("/sh"));
}

TEST_F(OwnPrograms, MessagesSayWhatToDo) {
  const auto missing = find_own_program(kNone);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, Error::Kind::run);
  EXPECT_EQ(missing.error().message,
            "jointer-no-such-program, which does nothing, is neither next to this program nor on "
            "PATH; set JOINTER_TEST_PROGRAM to its path");
  ::setenv(kNone.variable, "/no/such/file", 1);
  const auto wrong = find_own_program(kNone);
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, AllOf(HasSubstr("JOINTER_TEST_PROGRAM is `/no/such/file`"),
                                           HasSubstr("set it to the path of jointer-no-such-")));
}

}  // namespace
}  // namespace jointer
