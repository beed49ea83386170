#include "core/graph/group_of_rank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace jointer::test {
namespace {

using testing::ElementsAre;
using Ranks = std::vector<std::int32_t>;

TEST(GroupOfRank, CaptureOfTheSameRank) {
  EXPECT_THAT(*group_of_rank(Ranks{0, 2}, 2, 4), ElementsAre(0, 2));
}

TEST(GroupOfRank, NeighborsAndStrides) {
  EXPECT_THAT(*group_of_rank(Ranks{0, 1}, 3, 4), ElementsAre(2, 3));
  EXPECT_THAT(*group_of_rank(Ranks{0, 2}, 1, 4), ElementsAre(1, 3));
  EXPECT_THAT(*group_of_rank(Ranks{0, 1, 4, 5}, 6, 8), ElementsAre(2, 3, 6, 7));
}

TEST(GroupOfRank, CaptureOfAnotherRank) {
  EXPECT_THAT(*group_of_rank(Ranks{5, 7}, 0, 8), ElementsAre(0, 2));
}

TEST(GroupOfRank, GroupsThatDoNotTileTheWorldAreErrors) {
  EXPECT_FALSE(group_of_rank(Ranks{0, 2}, 1, 3));
  EXPECT_FALSE(group_of_rank(Ranks{0, 3}, 0, 2));
  EXPECT_FALSE(group_of_rank(Ranks{}, 0, 2));
  EXPECT_THAT(group_of_rank(Ranks{0, 1, 3}, 2, 4).error().message,
              testing::HasSubstr("give each rank its own capture"));
}

// For every dimension of a device mesh, the groups of all ranks partition the world, and all ranks
// compute the same groups.
RC_GTEST_PROP(GroupOfRank, MeshDimensionsPartitionTheWorld, ()) {
  const auto sizes = *rc::gen::container<std::vector<int>>(3, rc::gen::inRange(1, 4));
  const auto dimension = *rc::gen::inRange(0, 3);
  int world = 1, stride = 1;
  for (int d = 0; d < 3; ++d) {
    world *= sizes[static_cast<std::size_t>(d)];
    if (d > dimension) stride *= sizes[static_cast<std::size_t>(d)];
  }
  Ranks captured;
  for (int i = 0; i < sizes[static_cast<std::size_t>(dimension)]; ++i)
    captured.push_back(i * stride);
  std::set<Ranks> groups;
  for (int rank = 0; rank < world; ++rank) {
    const auto group = group_of_rank(captured, rank, world);
    RC_ASSERT(group.has_value());
    RC_ASSERT(std::find(group->begin(), group->end(), rank) != group->end());
    groups.insert(*group);
  }
  std::size_t members = 0;
  for (const Ranks& group : groups) members += group.size();
  RC_ASSERT(members == static_cast<std::size_t>(world));
}

}  // namespace
}  // namespace jointer::test
