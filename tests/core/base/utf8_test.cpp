#include "core/base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace jointer {
namespace {

TEST(FirstCharacters, AreWhole) {
  EXPECT_EQ(first_characters("a\u00e9\u20acb", 0), "");
  EXPECT_EQ(first_characters("a\u00e9\u20acb", 2), "a\u00e9");
  EXPECT_EQ(first_characters("a\u00e9\u20acb", 3), "a\u00e9\u20ac");
  EXPECT_EQ(first_characters("a\u00e9\u20acb", 4), "a\u00e9\u20acb");
  EXPECT_EQ(first_characters("a\u00e9\u20acb", 9), "a\u00e9\u20acb");
  EXPECT_EQ(first_characters("\U0001f600\U0001f600", 1), "\U0001f600");
}

TEST(FirstCharacters, AreFewEvenOfInvalidText) {
  EXPECT_EQ(first_characters(std::string(1000, '\x80'), 2).size(), 8U);
}

}  // namespace
}  // namespace jointer
