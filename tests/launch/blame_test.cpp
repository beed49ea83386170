#include "app/launch/blame.h"

#include <gtest/gtest.h>

#include <vector>

namespace jointer::test {
namespace {

RankPlace computing(int rank, const char* node) {
  return {rank, {node, ""}, {}};
}
RankPlace waiting(int rank, const char* collective) {
  return {rank, {std::string("wait_of_") + collective, collective}, {}};
}
RankPlace unknown(int rank) {
  return {rank, {}, {}};
}

TEST(Blame, ARankThatIsBehindBlocksTheOthers) {
  const std::vector<RankPlace> all{waiting(0, "ar"), computing(1, "mm"), unknown(2)};
  EXPECT_FALSE(is_to_blame(all[0], all));
  EXPECT_TRUE(is_to_blame(all[1], all));
  EXPECT_FALSE(is_to_blame(all[2], all));
  EXPECT_EQ(describe_others(all[0], all), ", while rank 1 is at mm");
  EXPECT_EQ(describe_others(all[1], all), ", while rank 0 is at ar");
}

TEST(Blame, DifferentCollectivesAreAllNamed) {
  const std::vector<RankPlace> all{waiting(0, "ar"), waiting(1, "ag"), waiting(2, "ar")};
  for (const RankPlace& one : all) EXPECT_TRUE(is_to_blame(one, all));
  EXPECT_EQ(describe_others(all[0], all),
            ", while rank 1 is at ag: the ranks' collectives do not match");
  EXPECT_EQ(describe_others(all[1], all),
            ", while rank 0 is at ar: the ranks' collectives do not match");
}

// A wait and its start are the same collective.
TEST(Blame, TheSameCollectiveEverywhere) {
  const std::vector<RankPlace> all{waiting(0, "ar"), {1, {"ar", "ar"}, {}}};
  EXPECT_EQ(describe_others(all[0], all), ", where every rank is");
}

TEST(Blame, ARankThatIsBehindIsNamedFirst) {
  const std::vector<RankPlace> all{waiting(0, "ar"), waiting(1, "ag"), computing(2, "mm")};
  EXPECT_EQ(describe_others(all[0], all), ", while rank 2 is at mm");
}

TEST(Blame, NothingIsKnown) {
  const std::vector<RankPlace> all{unknown(0), unknown(1)};
  EXPECT_TRUE(is_to_blame(all[0], all));
  EXPECT_EQ(describe_others(all[0], all), "");
  const std::vector<RankPlace> alone{computing(0, "mm")};
  EXPECT_EQ(describe_others(alone[0], alone), "");
}

}  // namespace
}  // namespace jointer::test
