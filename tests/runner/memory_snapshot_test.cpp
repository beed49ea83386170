// A rank on the fake device that runs out of memory writes a snapshot, which Jointer reads.

#include "core/capture/memory_snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runner/fake_device/graphs.h"
#include "tests/runner/fake_device/rank.h"

namespace jointer::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Status = RankResult::Status;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

Result<MemorySnapshot> snapshot_of_rank(const RankRun& run) {
  const PaddedBytes bytes(run.memory_snapshot);
  return read_memory_snapshot(run.rank.memory_snapshot, bytes);
}

RankSetup out_of_memory_in(const char* stage, int call) {
  return {.graph = kShardedStep,
          .fault = Fault{.kind = FaultKind::out_of_memory, .stage = stage, .call = call}};
}

TEST(SnapshotOfARank, ShowsWhatWasAllocated) {
  const RankRun run = run_on_fake_device(out_of_memory_in("warm up", 4));
  EXPECT_EQ(run.rank.status, Status::failed);
  EXPECT_EQ(run.rank.kind, "memory");
  EXPECT_EQ(run.rank.node, "a");
  EXPECT_THAT(run.rank.memory_snapshot, HasSubstr("/jointer/benchmarks/snapshots/"));
  const auto snapshot = snapshot_of_rank(run);
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  EXPECT_THAT(snapshot->measurement.notes, Contains("1 out-of-memory error"));
  EXPECT_FALSE(snapshot->begins_before);
  // The parameter, the input and the gathered parameter.
  EXPECT_GE(snapshot->peak_bytes, 3 * 64 * 64 * 4);
  EXPECT_GE(snapshot->measurement.memory_over_time.back().bytes, 3 * 64 * 64 * 4);
  EXPECT_GE(snapshot->reserved_peak_bytes, 2 * kMiB);
}

// A segment of 20 MiB holds five tensors of 4 MiB, and there is no room for a second one.
TEST(SnapshotOfARank, ShowsALimitThatIsReached) {
  const RankRun run =
      run_on_fake_device({.graph = R"(
        x: f32[1024,1024] = parameter
        a: f32[1024,1024] = aten.relu(x)
        b: f32[1024,1024] = aten.sin(a)
        c: f32[1024,1024] = aten.cos(b)
        d: f32[1024,1024] = aten.neg(c)
        e: f32[1024,1024] = aten.exp(d)
        return [a, b, c, d, e]
      )",
                          .options = {"--memory-limit=" + std::to_string(22 * kMiB)}});
  EXPECT_EQ(run.rank.kind, "memory");
  EXPECT_EQ(run.rank.node, "e");
  const auto snapshot = snapshot_of_rank(run);
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  EXPECT_GE(snapshot->peak_bytes, 20 * kMiB);
  EXPECT_GE(snapshot->measurement.memory_over_time.back().bytes, 20 * kMiB);
  EXPECT_GE(snapshot->reserved.back().bytes, 20 * kMiB);
  EXPECT_LE(snapshot->reserved_peak_bytes, 22 * kMiB);
}

TEST(SnapshotOfARank, IsNotWrittenForOtherFailures) {
  for (const FaultKind kind : {FaultKind::device_assert, FaultKind::link_down}) {
    const RankRun run = run_on_fake_device(
        {.graph = kShardedStep, .fault = Fault{.kind = kind, .stage = "warm up", .call = 2}});
    EXPECT_EQ(run.rank.status, Status::failed);
    EXPECT_EQ(run.rank.memory_snapshot, "") << to_string(kind);
  }
}

// A history would make measured steps slower.
TEST(SnapshotOfARank, IsNotWrittenInMeasuredSteps) {
  const RankRun run = run_on_fake_device(out_of_memory_in("measure", 2));
  EXPECT_EQ(run.rank.kind, "memory");
  EXPECT_EQ(run.rank.memory_snapshot, "");
  EXPECT_THAT(run.rank.notes, Not(Contains(HasSubstr("snapshot"))));
}

TEST(SnapshotOfARank, IsNotWrittenOnTheCpu) {
  const RankRun run = run_on_fake_device(
      {.graph = kShardedStep, .options = {"--on=cpu", "--solo=0", "--memory-limit=20000"}});
  EXPECT_EQ(run.rank.kind, "memory") << run.failure();
  EXPECT_EQ(run.rank.memory_snapshot, "");
}

TEST(SnapshotOfARank, ThatCannotBeWrittenIsANote) {
  RankSetup setup = out_of_memory_in("warm up", 4);
  setup.can_keep_snapshots = false;
  const RankRun run = run_on_fake_device(setup);
  EXPECT_EQ(run.rank.kind, "memory");
  EXPECT_EQ(run.rank.node, "a");
  EXPECT_EQ(run.rank.memory_snapshot, "");
  EXPECT_THAT(run.rank.notes, Contains(StartsWith("no memory snapshot was written: ")));
}

}  // namespace
}  // namespace jointer::test
