#include "passes/bucketing/paying_members.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jointer::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::size_t> members(const std::vector<std::int64_t>& bytes, std::int64_t copies_ns,
                                 std::int64_t saved_ns) {
  return paying_members(bytes, copies_ns, saved_ns);
}

TEST(PayingMembers, TwoEqualMembersDoNotPayIfTheirCopiesCostMoreThanTheySave) {
  EXPECT_THAT(members({8, 8}, 15, 10), IsEmpty()) << "though each has copies of 7.5";
  EXPECT_THAT(members({8, 8}, 25, 10), IsEmpty());
}

TEST(PayingMembers, ALargeMemberLeaves) {
  // Each member after the first saves 10; the copies of the members take 3, 3 and 24.
  EXPECT_THAT(members({1, 1, 8}, 30, 20), ElementsAre(0, 1));
  EXPECT_THAT(members({8, 1, 1}, 30, 20), ElementsAre(1, 2));
  // The copies of the small ones take 6 each, which is more than one of them saves.
  EXPECT_THAT(members({1, 1, 8}, 60, 20), IsEmpty());
}

TEST(PayingMembers, NothingPaysIfNothingIsSaved) {
  EXPECT_THAT(members({1, 1, 1}, 3, 0), IsEmpty());
  EXPECT_THAT(members({1, 1, 1}, 3, -5), IsEmpty());
  EXPECT_THAT(members({0, 0}, 3, 1), IsEmpty());
}

}  // namespace
}  // namespace jointer::test
