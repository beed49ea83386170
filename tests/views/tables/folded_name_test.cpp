#include "views/tables/folded_name.h"

#include <gtest/gtest.h>

namespace jointer::views {
namespace {

TEST(FoldedName, NamesTheLastMemberAndTheirNumber) {
  EXPECT_EQ(folded_name("layers.0", 0, 32), QStringLiteral("layers.0..31  ×32"));
  EXPECT_EQ(folded_name("layers.3", 3, 1), "layers.3");
}

TEST(FoldedName, ANameIsNotAPattern) {
  EXPECT_EQ(folded_name("part%2.0", 0, 4), QStringLiteral("part%2.0..3  ×4"));
}

}  // namespace
}  // namespace jointer::views
