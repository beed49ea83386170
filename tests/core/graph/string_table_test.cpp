#include "core/graph/string_table.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "core/base/id.h"

namespace jointer {
namespace {

TEST(Ids, DefaultsAreInvalid) {
  EXPECT_FALSE(NodeId{});
  EXPECT_TRUE(NodeId(0));
  EXPECT_EQ(NodeId(7).index(), 7U);
  EXPECT_LT(NodeId(1), NodeId(2));
  EXPECT_NE(NodeId{}, NodeId(0));
}

TEST(StringTable, ContainsTheEmptyString) {
  StringTable table;
  EXPECT_EQ(table.size(), 1U);
  EXPECT_EQ(table.intern(""), StringId(0));
  EXPECT_EQ(table[StringId{}], "");
  EXPECT_FALSE(table.find("a"));
}

// The ids equal those of a map from strings to their order of first appearance, through growth and
// copies.
RC_GTEST_PROP(StringTableProperty, IsAMapFromStringsToDenseIds, (std::vector<std::string> texts)) {
  const auto more = *rc::gen::inRange(0, 300);
  for (int i = 0; i < more; ++i) texts.push_back(std::to_string(i % 97));
  StringTable table;
  if (*rc::gen::arbitrary<bool>()) table.reserve(texts.size(), 100);
  std::map<std::string, StringId> model{{"", StringId(0)}};
  for (const std::string& text : texts) {
    RC_ASSERT(table.find(text) == (model.contains(text) ? model.at(text) : StringId{}));
    const auto [expected, is_new] = model.try_emplace(text, StringId(model.size()));
    RC_ASSERT(table.intern(text) == expected->second);
  }
  RC_ASSERT(table.size() == model.size());
  const StringTable copy = table;
  table.intern("something that the copy has not");
  for (const auto& [text, id] : model) {
    RC_ASSERT(copy[id] == text);
    RC_ASSERT(copy.find(text) == id);
  }
}

}  // namespace
}  // namespace jointer
