#include "core/bench/nsys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jointer::test {
namespace {

using testing::Contains;
using testing::Not;

TEST(Nsys, EveryRankHasItsReport) {
  EXPECT_EQ(nsys_report("/reports", "3"), "/reports/rank3");
  EXPECT_EQ(nsys_report("/reports/", "3"), "/reports/rank3");
}

TEST(Nsys, RecordsOnlyTheRangeThatTheRankMarks) {
  const auto arguments = nsys_arguments({.nsys = "/reports"}, "3");
  EXPECT_EQ(arguments.front(), "profile");
  EXPECT_EQ(arguments.back(), "--output=/reports/rank3");
  EXPECT_THAT(arguments, Contains("--capture-range=cudaProfilerApi"));
  // Otherwise, nsys would end the rank after the measured steps.
  EXPECT_THAT(arguments, Contains("--capture-range-end=stop"));
}

TEST(Nsys, KernelsOfARecordedStepAreSeparate) {
  constexpr const char* kEachKernel = "--cuda-graph-trace=node";
  EXPECT_THAT(nsys_arguments({}, "0"), Not(Contains(kEachKernel)));
  EXPECT_THAT(nsys_arguments({.backend = Backend::cudagraph}, "0"), Contains(kEachKernel));
  EXPECT_THAT(nsys_arguments({.recorded = true}, "0"), Contains(kEachKernel));
}

TEST(Nsys, AFolderIsTakenLiterally) {
  EXPECT_EQ(nsys_arguments({.nsys = "/50%h"}, kNsysRank).back(), "--output=/50%%h/rank%q{RANK}");
}

}  // namespace
}  // namespace jointer::test
