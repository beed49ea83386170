#include "core/bench/skew.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Three all-reduces of two ranks, each with its wait.
Graph three_reductions() {
  return parse(R"(
    group dp: 0 1
    x: f32[8] = input
    a: f32[8] = _c10d_functional.all_reduce(x, 'sum', 'dp')
    aw: f32[8] = _c10d_functional.wait_tensor(a)
    b: f32[8] = _c10d_functional.all_reduce(aw, 'sum', 'dp')
    bw: f32[8] = _c10d_functional.wait_tensor(b)
    c: f32[8] = _c10d_functional.all_reduce(bw, 'sum', 'dp')
    cw: f32[8] = _c10d_functional.wait_tensor(c)
    return [cw]
  )");
}

struct NodeSpan {
  const char* name;
  std::int64_t start_us, end_us;
};

// A profiled rank. `clock_us`: what its clock shows when that of rank 0 shows 0.
RankResult rank_of(const Graph& graph, int rank, const std::vector<NodeSpan>& spans, bool is_traced,
                   std::int64_t clock_us = 0) {
  RankResult result;
  result.rank = rank;
  RankMeasured& measured = result.measured.emplace();
  for (const NodeSpan& span : spans)
    measured.nodes.push_back(
        {.position = static_cast<std::uint32_t>(graph.position(graph.find(span.name))),
         .start_ns = (span.start_us + clock_us) * 1000,
         .end_ns = (span.end_us + clock_us) * 1000,
         .own_ns = 1});
  if (is_traced)
    measured.kernels.push_back(
        {.position = 0, .name = "nccl", .stream = 1, .start_ns = 0, .end_ns = 1});
  return result;
}

std::string name_of(const Graph& graph, const CollectiveSkew& skew) {
  return std::string(graph.name(skew.node));
}

TEST(Skew, TheRankThatArrivesLastIsFoundWhateverItsClockShows) {
  const Graph graph = three_reductions();
  for (const std::int64_t clock : {0, 700, -5'000}) {
    const std::vector<RankResult> ranks{
        rank_of(graph, 0, {{"a", 10, 50}, {"b", 60, 200}, {"c", 210, 230}}, true),
        rank_of(graph, 1, {{"a", 30, 50}, {"b", 180, 200}, {"c", 205, 230}}, true, clock)};
    const SkewReport report = collective_skew(graph, ranks);
    ASSERT_EQ(report.collectives.size(), 3U);
    const CollectiveSkew& largest = report.collectives[0];
    EXPECT_EQ(name_of(graph, largest), "b");
    EXPECT_EQ(largest.skew_ns, 120'000);
    EXPECT_EQ(largest.last_rank, 1);
    EXPECT_EQ(largest.transfer_ns, 20'000);
    ASSERT_EQ(largest.spans.size(), 2U);
    EXPECT_EQ(largest.spans[1].start_ns, 180'000) << "on the clock of rank 0";
    EXPECT_EQ(largest.spans[1].end_ns, 200'000);
    EXPECT_EQ(name_of(graph, report.collectives[1]), "a");
    EXPECT_EQ(report.collectives[1].skew_ns, 20'000);
    EXPECT_EQ(name_of(graph, report.collectives[2]), "c");
    EXPECT_EQ(report.collectives[2].last_rank, 0);
    EXPECT_EQ(report.clock_error_ns, 0);
  }
}

TEST(Skew, OneCollectiveThatEndsLateOnARankDoesNotMoveItsClock) {
  const Graph graph = three_reductions();
  const std::vector<RankResult> ranks{
      rank_of(graph, 0, {{"a", 10, 50}, {"b", 60, 200}, {"c", 210, 261}}, true),
      rank_of(graph, 1, {{"a", 30, 50}, {"b", 180, 240}, {"c", 241, 260}}, true, 1'000)};
  const SkewReport report = collective_skew(graph, ranks);
  ASSERT_EQ(report.collectives.size(), 3U);
  EXPECT_EQ(report.collectives[0].skew_ns, 120'000);
  EXPECT_EQ(report.clock_error_ns, 1'000);
}

// Without traces, a collective ends at its wait. Rank 1 reaches its first two waits long after the
// collectives have ended.
TEST(Skew, WaitsThatDidNotBlockAreNotEndsOfCollectives) {
  const Graph graph = three_reductions();
  const std::vector<RankResult> ranks{rank_of(graph, 0,
                                              {{"a", 10, 50},
                                               {"aw", 11, 50},
                                               {"b", 60, 100},
                                               {"bw", 61, 100},
                                               {"c", 110, 500},
                                               {"cw", 111, 500}},
                                              false),
                                      rank_of(graph, 1,
                                              {{"a", 20, 301},
                                               {"aw", 300, 301},
                                               {"b", 80, 306},
                                               {"bw", 305, 306},
                                               {"c", 470, 500},
                                               {"cw", 471, 500}},
                                              false, 40)};
  const SkewReport report = collective_skew(graph, ranks);
  ASSERT_EQ(report.collectives.size(), 3U);
  EXPECT_EQ(name_of(graph, report.collectives[0]), "c");
  EXPECT_EQ(report.collectives[0].skew_ns, 360'000);
  EXPECT_EQ(report.collectives[1].skew_ns, 20'000);
  EXPECT_EQ(report.collectives[2].skew_ns, 10'000);
}

// By the ends alone, rank 1 would leave `a` before rank 0 has entered it.
TEST(Skew, NoRankLeavesBeforeAllHaveArrived) {
  const Graph graph = three_reductions();
  const std::vector<RankResult> ranks{
      rank_of(graph, 0, {{"a", 10, 50}, {"b", 60, 100}, {"c", 110, 150}}, false),
      rank_of(graph, 1, {{"a", 5, 12}, {"b", 95, 300}, {"c", 145, 350}}, false)};
  const SkewReport report = collective_skew(graph, ranks);
  ASSERT_EQ(report.collectives.size(), 3U);
  for (const CollectiveSkew& each : report.collectives) {
    EXPECT_LE(each.spans[0].start_ns, each.spans[1].end_ns);
    EXPECT_LE(each.spans[1].start_ns, each.spans[0].end_ns);
  }
}

// A capture of rank 0 names its group [0, 1]; ranks 2 and 3 are another such group.
TEST(Skew, GroupsOfOtherRanksMeetByThemselves) {
  const Graph graph = parse(R"(
    group tp: 0 1
    x: f32[8] = input
    a: f32[8] = _c10d_functional.all_reduce(x, 'sum', 'tp')
    aw: f32[8] = _c10d_functional.wait_tensor(a)
    return [aw]
  )");
  std::vector<RankResult> ranks;
  for (const int rank : {0, 1, 2, 3})
    ranks.push_back(rank_of(graph, rank, {{"a", 10 + 5 * rank * rank, 100}}, true));
  const SkewReport report = collective_skew(graph, ranks);
  ASSERT_EQ(report.collectives.size(), 2U);
  EXPECT_EQ(report.collectives[0].last_rank, 3);
  EXPECT_EQ(report.collectives[0].skew_ns, 25'000);
  EXPECT_EQ(report.collectives[0].spans[0].rank, 2);
  EXPECT_EQ(report.collectives[1].last_rank, 1);
  EXPECT_EQ(report.collectives[1].skew_ns, 5'000);
  // Rank 3 failed, so nothing is known about its group.
  ranks[3].measured.reset();
  EXPECT_EQ(collective_skew(graph, ranks).collectives.size(), 1U);
}

TEST(Skew, NeedsSeveralProfiledRanksOfTheSameGraph) {
  const Graph graph = three_reductions();
  const auto profiled = [&](int rank) { return rank_of(graph, rank, {{"a", 10, 50}}, true); };
  EXPECT_THAT(collective_skew(graph, {}).collectives, IsEmpty());
  EXPECT_THAT(collective_skew(graph, std::vector{profiled(0)}).collectives, IsEmpty());
  std::vector<RankResult> ranks{profiled(0), profiled(1)};
  EXPECT_EQ(collective_skew(graph, ranks).collectives.size(), 1U);
  for (RankResult& rank : ranks) rank.started.emplace().hash = rank.rank == 0 ? "00" : "ff";
  EXPECT_THAT(collective_skew(graph, ranks).collectives, IsEmpty());
}

TEST(Skew, TheRootOfABroadcastDoesNotWait) {
  const Graph graph = parse(R"(
    group dp: 0 1
    x: f32[8] = input
    a: f32[8] = _c10d_functional.broadcast(x, 0, 'dp')
    aw: f32[8] = _c10d_functional.wait_tensor(a)
    return [aw]
  )");
  const std::vector<RankResult> ranks{rank_of(graph, 0, {{"a", 10, 20}}, true),
                                      rank_of(graph, 1, {{"a", 50, 60}}, true)};
  EXPECT_THAT(collective_skew(graph, ranks).collectives, IsEmpty());
}

}  // namespace
}  // namespace jointer::test
