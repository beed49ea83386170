// Ranks on the fake device under the launcher: its rows name the rank, the node and the reason,
// even for a rank that could not report them.

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <tuple>

#include "app/launch/launcher.h"
#include "core/base/environment.h"
#include "core/bench/snapshot_folder.h"
#include "core/capture/measurement_file.h"
#include "core/capture/native_writer.h"
#include "core/graph/literal.h"
#include "tests/runner/fake_device/graphs.h"
#include "tests/support/temporary_folder.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Status = RankResult::Status;

class LaunchedDevice : public testing::Test {
 protected:
  void SetUp() override {
    const auto graph = parse_literal(kStepOfTwoRanks);
    ASSERT_TRUE(graph) << graph.error().message;
    std::ofstream(folder_ / "graph.json") << write_native(*graph);
    ::setenv("JOINTER_RUNNER", sibling_program("fake_device_runner").c_str(), 1);
    ::setenv("XDG_DATA_HOME", folder_.path().c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("JOINTER_RUNNER");
    ::unsetenv("XDG_DATA_HOME");
    ::unsetenv("FAKE_FAULT");
    ::unsetenv("FAKE_EXCLUSIVE");
  }

  BenchmarkResult run(const char* fault) {
    ::setenv("FAKE_FAULT", fault, 1);
    BenchmarkRequest request;
    request.program.graph = folder_ / "graph.json";
    request.ranks = 2;
    request.on = RunOn::cuda;
    request.threads = 1;
    request.iterations = 2;
    request.warmup = 1;
    request.timeout_ms = 20'000;
    auto result = launch(request, {});
    EXPECT_TRUE(result) << result.error().message;
    return result ? *std::move(result) : BenchmarkResult();
  }

  TemporaryFolder folder_;
};

TEST_F(LaunchedDevice, Runs) {
  const BenchmarkResult result = run("");
  EXPECT_TRUE(result.succeeded()) << result.failure();
  EXPECT_EQ(result.device(), "Fake device");
}

// The sum of two values does not depend on their order.
TEST_F(LaunchedDevice, SumsOfMoreThanTwoRanksHaveABound) {
  for (const int ranks : {2, 3}) {
    const auto graph = parse_literal(fmt::format(R"(
      group dp: {}
      x: f32[64,64] = input
      r: f32[64,64] = _c10d_functional.all_reduce(x, 'sum', 'dp')
      rw: f32[64,64] = _c10d_functional.wait_tensor(r)
      return [rw]
    )",
                                                 ranks == 2 ? "0 1" : "0 1 2"));
    ASSERT_TRUE(graph) << graph.error().message;
    BenchmarkRequest request;
    request.program.graph = folder_ / "sum.json";
    std::ofstream(request.program.graph) << write_native(*graph);
    request.baseline = request.program;
    request.ranks = ranks;
    request.on = RunOn::cuda;
    request.threads = 1;
    request.iterations = 1;
    request.warmup = 1;
    const auto result = launch(request, {});
    ASSERT_TRUE(result) << result.error().message;
    ASSERT_TRUE(result->succeeded()) << result->failure();
    const RankResult& rank = result->ranks.front();
    ASSERT_EQ(rank.verified.size(), 1);
    EXPECT_TRUE(rank.verified.front().bitwise);
    EXPECT_EQ(rank.verified.front().bound, ranks == 2 ? 0 : 1e-4);
    EXPECT_EQ(std::ranges::any_of(rank.notes,
                                  [](const std::string& note) {
                                    return note.find("more than two ranks") != std::string::npos;
                                  }),
              ranks > 2);
  }
}

// Two sums over three ranks. A bucket of both puts their elements into another message, where Gloo
// may add them in a different order. Moved calls change nothing.
TEST_F(LaunchedDevice, OnTheCpuSumsInOtherMessagesHaveTheBound) {
  constexpr const char* kSums = R"(
    group dp: 0 1 2
    x: f32[64,64] = input
    y: f32[32,64] = input
    r: f32[64,64] = _c10d_functional.all_reduce(x, 'sum', 'dp')
    rw: f32[64,64] = _c10d_functional.wait_tensor(r)
    s: f32[32,64] = _c10d_functional.all_reduce(y, 'sum', 'dp')
    sw: f32[32,64] = _c10d_functional.wait_tensor(s)
    return [rw, sw]
  )";
  constexpr const char* kMoved = R"(
    group dp: 0 1 2
    x: f32[64,64] = input
    y: f32[32,64] = input
    s: f32[32,64] = _c10d_functional.all_reduce(y, 'sum', 'dp')
    r: f32[64,64] = _c10d_functional.all_reduce(x, 'sum', 'dp')
    rw: f32[64,64] = _c10d_functional.wait_tensor(r)
    sw: f32[32,64] = _c10d_functional.wait_tensor(s)
    return [rw, sw]
  )";
  constexpr const char* kBucket = R"(
    group dp: 0 1 2
    x: f32[64,64] = input
    y: f32[32,64] = input
    c: f32[96,64] = aten.cat([x, y])
    r: f32[96,64] = _c10d_functional.all_reduce(c, 'sum', 'dp')
    w: f32[96,64] = _c10d_functional.wait_tensor(r)
    rw: f32[64,64] = aten.slice.Tensor(w, 0, 0, 64)
    sw: f32[32,64] = aten.slice.Tensor(w, 0, 64, 96)
    return [rw, sw]
  )";
  const auto write = [&](const char* name, const char* literal) {
    const auto graph = parse_literal(literal);
    EXPECT_TRUE(graph) << graph.error().message;
    std::ofstream(folder_ / name) << write_native(*graph);
    return folder_ / name;
  };
  const std::string baseline = write("sums.json", kSums);
  for (const auto& [name, literal, bound] :
       {std::tuple("moved.json", kMoved, 0.0), std::tuple("bucket.json", kBucket, 1e-4)}) {
    BenchmarkRequest request;
    request.program.graph = write(name, literal);
    request.baseline.graph = baseline;
    request.ranks = 3;
    request.on = RunOn::cpu;
    request.threads = 1;
    request.iterations = 1;
    request.warmup = 1;
    const auto result = launch(request, {});
    ASSERT_TRUE(result) << result.error().message;
    ASSERT_TRUE(result->succeeded()) << result->failure();
    const RankResult& rank = result->ranks.front();
    ASSERT_EQ(rank.verified.size(), 1);
    EXPECT_TRUE(rank.verified.front().equal) << name;
    EXPECT_EQ(rank.verified.front().bound, bound) << name;
    EXPECT_EQ(std::ranges::any_of(rank.notes,
                                  [](const std::string& note) {
                                    return note.starts_with("the order in which Gloo adds");
                                  }),
              bound > 0)
        << name;
  }
}

TEST_F(LaunchedDevice, ARankThatDiesIsNamedWithItsNode) {
  const BenchmarkResult result = run("1/died/measure/2");
  ASSERT_TRUE(result.culprit());
  EXPECT_EQ(result.culprit()->status, Status::died);
  EXPECT_EQ(result.culprit()->stage, "measure");
  EXPECT_THAT(result.failure(), StartsWith("rank 1: at a: killed by signal 9"));
}

TEST_F(LaunchedDevice, ADeviceThatHangsIsNamedWithItsCollective) {
  const BenchmarkResult result = run("1/hung/measure/1");
  ASSERT_TRUE(result.culprit());
  EXPECT_THAT(result.failure(),
              StartsWith("rank 1: at g: no progress for 20 s; the device has not"));
  EXPECT_EQ(result.culprit()->kind, "collective");
}

// The rank fails, its file exists, Jointer reads it, and the node is named.
TEST_F(LaunchedDevice, ARankThatRunsOutOfMemoryLeavesASnapshot) {
  const BenchmarkResult result = run("1/out of memory/warm up/4");
  ASSERT_TRUE(result.culprit());
  EXPECT_EQ(result.culprit()->kind, "memory");
  EXPECT_THAT(result.failure(), StartsWith("rank 1: at a: CUDA out of memory"));
  ASSERT_EQ(result.snapshot_writer(), result.culprit());
  const std::string& path = result.culprit()->memory_snapshot;
  EXPECT_THAT(path, StartsWith(SnapshotFolder::default_folder()));
  EXPECT_THAT(path, testing::EndsWith("-rank1.pickle"));
  EXPECT_TRUE(is_measurement_file(path));
  const auto graph = parse_literal(kStepOfTwoRanks);
  const auto measurement = read_measurement(*graph, path);
  ASSERT_TRUE(measurement) << measurement.error().message;
  // At least the inputs were allocated.
  EXPECT_GE(measurement->peak_bytes, 64 * 64 * 4 + 64 * 128 * 4);
  EXPECT_THAT(measurement->notes, testing::Contains("1 out-of-memory error"));
}

TEST_F(LaunchedDevice, ALinkThatIsDownIsNamedWithItsCollective) {
  const BenchmarkResult result = run("0/link down/warm up/1");
  ASSERT_TRUE(result.culprit());
  EXPECT_EQ(result.culprit()->kind, "collective");
  EXPECT_THAT(result.failure(), StartsWith("rank 0: at g: NCCL error"));
}

// The second rank must not wait for an error of CUDA, which names no remedy.
TEST_F(LaunchedDevice, RanksThatWouldShareAnExclusiveDeviceAreRefused) {
  const std::string device = "GPU of " + folder_.path().string();
  ::setenv("FAKE_EXCLUSIVE", device.c_str(), 1);
  const BenchmarkResult result = run("");
  ASSERT_TRUE(result.culprit());
  EXPECT_EQ(result.culprit()->kind, "device");
  EXPECT_EQ(result.culprit()->stage, "load");
  EXPECT_THAT(result.failure(), HasSubstr("another benchmark or rank uses " + device));
  EXPECT_THAT(result.failure(), HasSubstr("give each rank its own GPU"));
}

}  // namespace
}  // namespace jointer::test
