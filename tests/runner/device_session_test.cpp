// Whole runs of a rank on a simulated device: what it measures, records, verifies and profiles.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/bench/calibrate.h"
#include "core/bench/measurement.h"
#include "core/graph/literal.h"
#include "core/report/export.h"
#include "core/schedule/analysis.h"
#include "core/schedule/memory_timeline.h"
#include "tests/runner/fake_device/graphs.h"
#include "tests/runner/fake_device/rank.h"
#include "tests/support/temporary_folder.h"

namespace jointer::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Gt;
using testing::SizeIs;
using Status = RankResult::Status;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

// The times that a node has in a profile.
NodeTime time_of(const Graph& graph, const RankMeasured& measured, const char* name) {
  const auto position = static_cast<std::uint32_t>(graph.position(graph.find(name)));
  const auto found = std::ranges::find(measured.nodes, position, &NodeTime::position);
  return found == measured.nodes.end() ? NodeTime{} : *found;
}

std::vector<MeasuredKernel> kernels_of(const Graph& graph, const RankMeasured& measured,
                                       const char* name) {
  const auto position = static_cast<std::uint32_t>(graph.position(graph.find(name)));
  std::vector<MeasuredKernel> found;
  for (const MeasuredKernel& kernel : measured.kernels)
    if (kernel.position == position) found.push_back(kernel);
  return found;
}

TEST(DeviceSession, MeasuresAStep) {
  const RankRun run = run_on_fake_device({.graph = kShardedStep});
  ASSERT_EQ(run.rank.status, Status::done) << run.failure();
  ASSERT_TRUE(run.rank.started && run.rank.measured);
  EXPECT_EQ(run.rank.started->device, "Fake device");
  const RankMeasured& measured = *run.rank.measured;
  EXPECT_THAT(measured.step_ns, SizeIs(2));
  // Two collectives, one after the other, and the kernels between them.
  EXPECT_THAT(measured.step_ns, Each(Gt(2 * DeviceOptions{}.collective_ns)));
  // The first one waits for its first launch.
  EXPECT_EQ(measured.step_ns[0], measured.step_ns[1] + DeviceOptions{}.launch_ns);
}

TEST(DeviceSession, MemoryIsThePredictionWithoutWorkspaces) {
  const RankRun run = run_on_fake_device({.graph = kShardedStep, .options = {"--profile"}});
  ASSERT_EQ(run.rank.status, Status::done) << run.failure();
  const auto graph = parse_literal(kShardedStep);
  const MemoryTimeline predicted(*graph);
  EXPECT_EQ(run.rank.measured->requested_peak_bytes, predicted.peak_bytes());
  EXPECT_EQ(run.rank.measured->workspace_bytes, DeviceOptions{}.workspace_bytes);
  EXPECT_THAT(run.rank.measured->memory_profile, testing::ElementsAreArray(predicted.profile()));
}

TEST(DeviceSession, ReplaysComputeTheSameFaster) {
  const RankRun eager = run_on_fake_device({.graph = kShardedStep, .baseline = kShardedStep});
  const RankRun recorded = run_on_fake_device({.graph = kShardedStep,
                                               .baseline = kShardedStep,
                                               .options = {"--backend=cudagraph"},
                                               .device = {.launch_ns = 50'000}});
  ASSERT_EQ(eager.rank.status, Status::done) << eager.failure();
  ASSERT_EQ(recorded.rank.status, Status::done) << recorded.failure();
  for (const RankRun* run : {&eager, &recorded}) {
    ASSERT_EQ(run->rank.verified.size(), 1);
    EXPECT_TRUE(run->rank.verified[0].bitwise);
    EXPECT_EQ(run->rank.verified[0].compared, 1);
  }
  // However slow launches are, replays do not wait for them.
  EXPECT_LE(recorded.rank.measured->step_ns[1], eager.rank.measured->step_ns[1] + 50'000);
}

TEST(DeviceSession, AnEditThatChangesValuesIsFound) {
  std::string changed = kShardedStep;
  changed.replace(changed.find("aten.relu"), 9, "aten.tanh");
  for (const char* backend : {"--backend=interpret", "--backend=cudagraph"}) {
    const RankRun run =
        run_on_fake_device({.graph = changed, .baseline = kShardedStep, .options = {backend}});
    ASSERT_EQ(run.rank.status, Status::done) << run.failure();
    ASSERT_EQ(run.rank.verified.size(), 1);
    EXPECT_FALSE(run.rank.verified[0].equal) << backend;
  }
}

TEST(DeviceSession, AStepThatReadsOnTheHostCannotBeRecorded) {
  const RankRun run = run_on_fake_device({.graph = R"(
      x: f32[64] = input
      s: f32[] = aten.sum(x)
      e: f32[1,1] = aten.nonzero(x)
      return [s]
    )",
                                          .options = {"--backend=cudagraph"}});
  EXPECT_EQ(run.rank.status, Status::failed);
  EXPECT_EQ(run.rank.node, "e");
  EXPECT_THAT(
      run.rank.reason,
      testing::StartsWith("aten.nonzero.default cannot be captured as part of a CUDA graph: "
                          "CUDA error: operation not permitted when stream is capturing"));
  EXPECT_THAT(run.rank.reason, testing::EndsWith("with --backend interpret"));
  EXPECT_THAT(run.rank.reason, testing::Not(testing::HasSubstr("an earlier node")));
}

TEST(DeviceSession, AProfileCalibratesCosts) {
  const RankRun run = run_on_fake_device({.graph = kShardedStep, .options = {"--profile"}});
  ASSERT_EQ(run.rank.status, Status::done) << run.failure();
  const auto graph = parse_literal(kShardedStep);
  const CostSamples samples = cost_samples(
      *graph, measurement_of(*graph, *run.rank.measured, "rank 0", run.rank.started->device,
                             run.rank.started->device_type, /*alone=*/false));
  EXPECT_EQ(samples.device, "Fake device");
  EXPECT_EQ(samples.device_type, "cuda");
  // The two products share a key.
  EXPECT_THAT(samples.nodes, SizeIs(3));
  ASSERT_EQ(samples.collectives.size(), 2);
  for (const auto& [work, ns] : samples.collectives) EXPECT_EQ(ns, DeviceOptions{}.collective_ns);
}

TEST(DeviceSession, KernelsBelongToTheirNodes) {
  const RankRun run = run_on_fake_device({.graph = kShardedStep, .options = {"--profile"}});
  ASSERT_EQ(run.rank.status, Status::done) << run.failure();
  const auto graph = parse_literal(kShardedStep);
  const RankMeasured& measured = *run.rank.measured;
  const auto gather = kernels_of(*graph, measured, "g"),
             product = kernels_of(*graph, measured, "a");
  ASSERT_EQ(gather.size(), 1);
  ASSERT_EQ(product.size(), 1);
  EXPECT_EQ(gather[0].stream, FakeDevice::kCommunicationStream);
  EXPECT_EQ(product[0].stream, FakeDevice::kComputeStream);
  EXPECT_GE(product[0].start_ns, gather[0].end_ns);  // it waits for it
  EXPECT_THAT(run.rank.notes, SizeIs(0));
  const NodeTime time = time_of(*graph, measured, "g");
  EXPECT_EQ(time.own_ns, DeviceOptions{}.collective_ns);
  EXPECT_EQ(time.end_ns - time.start_ns, DeviceOptions{}.collective_ns);
}

TEST(DeviceSession, AProfileIsATraceWithEachKernelInItsCall) {
  const RankRun run = run_on_fake_device({.graph = kShardedStep, .options = {"--profile"}});
  ASSERT_EQ(run.rank.status, Status::done) << run.failure();
  const auto graph = parse_literal(kShardedStep);
  const std::vector<Measurement> measured{
      measurement_of(*graph, *run.rank.measured, "rank 0", run.rank.started->device,
                     run.rank.started->device_type, /*alone=*/false)};
  const std::vector<NodeKernel>& kernels = measured.front().kernels;
  ASSERT_FALSE(kernels.empty());
  const std::string trace = export_perfetto(*graph, *analyze(*graph), measured);
  const std::string_view launch = R"("ph":"s","name":"launch")";
  std::size_t launches = 0;
  for (auto at = trace.find(launch); at != std::string::npos; at = trace.find(launch, at + 1))
    ++launches;
  EXPECT_EQ(launches, static_cast<std::size_t>(std::ranges::count_if(
                          kernels, [](const NodeKernel& k) { return k.end_ns > k.start_ns; })));
}

// Without traces, marks time the calls; a collective then lasts until its wait.
TEST(DeviceSession, MarksTimeNodesWhereKernelsAreNotTraced) {
  const RankRun run = run_on_fake_device(
      {.graph = kShardedStep, .options = {"--profile"}, .device = {.traced_steps = 0}});
  ASSERT_EQ(run.rank.status, Status::done) << run.failure();
  const auto graph = parse_literal(kShardedStep);
  const RankMeasured& measured = *run.rank.measured;
  EXPECT_THAT(measured.kernels, SizeIs(0));
  EXPECT_THAT(run.rank.notes, testing::Contains(testing::StartsWith("kernels cannot be traced")));
  EXPECT_GE(time_of(*graph, measured, "a").own_ns, DeviceOptions{}.kernel_ns);
  EXPECT_EQ(time_of(*graph, measured, "g").end_ns, time_of(*graph, measured, "gw").end_ns);
}

// The times of small kernels would be those of their launches.
TEST(DeviceSession, TimesOfMarksAreNotStored) {
  const TemporaryFolder folder;
  ::setenv("JOINTER_COSTS", (folder / "costs.sqlite").c_str(), 1);
  const auto graph = parse_literal(kShardedStep);
  for (const int traced_steps : {0, 7, 10}) {
    const RankRun run = run_on_fake_device({.graph = kShardedStep,
                                            .options = {"--profile"},
                                            .device = {.traced_steps = traced_steps}});
    ASSERT_EQ(run.rank.status, Status::done) << run.failure();
    const auto stored =
        store(*graph, measurement_of(*graph, *run.rank.measured, "rank 0", run.rank.started->device,
                                     run.rank.started->device_type, /*alone=*/false));
    EXPECT_EQ(stored.has_value(), traced_steps == 10);
    EXPECT_EQ(std::filesystem::exists(folder / "costs.sqlite"), traced_steps == 10);
    if (!stored) {
      EXPECT_THAT(stored.error().message, testing::HasSubstr("were not traced"));
      EXPECT_THAT(run.rank.notes, testing::Contains(testing::HasSubstr("--calibrate")));
    }
  }
  ::unsetenv("JOINTER_COSTS");
}

TEST(DeviceSession, ALaterStepWithoutATraceRestartsWithMarks) {
  const auto profile = [](const DeviceOptions& device) {
    return run_on_fake_device({.graph = kShardedStep, .options = {"--profile"}, .device = device});
  };
  const RankRun marked = profile({.traced_steps = 0});
  const auto graph = parse_literal(kShardedStep);
  for (const DeviceOptions& device : {DeviceOptions{.traced_steps = 7}, DeviceOptions{.tracers = 7},
                                      DeviceOptions{.tracers = 3}, DeviceOptions{.tracers = 0}}) {
    const RankRun restarted = profile(device);
    ASSERT_EQ(restarted.rank.status, Status::done) << restarted.failure();
    EXPECT_THAT(restarted.rank.measured->kernels, SizeIs(0));
    EXPECT_THAT(restarted.rank.notes,
                testing::Contains(testing::StartsWith("kernels cannot be traced")));
    for (const char* name : {"g", "gw", "a", "r", "rw"})
      EXPECT_EQ(time_of(*graph, *restarted.rank.measured, name).own_ns,
                time_of(*graph, *marked.rank.measured, name).own_ns)
          << name;
  }
}

// The lines that the fake device logs about ranges for a profiler.
std::vector<std::string> ranges_of(RankSetup setup) {
  const TemporaryFolder folder;
  setup.device.range_log = folder / "ranges";
  const RankRun run = run_on_fake_device(setup);
  EXPECT_EQ(run.rank.status, Status::done) << run.failure();
  std::vector<std::string> lines;
  std::ifstream file(folder / "ranges");
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(DeviceSession, AProfilerRecordsMeasuredStepsWithTheirNodes) {
  const auto lines = ranges_of({.graph = kShardedStep, .options = {"--nsys=reports"}});
  const auto start = std::find(lines.begin(), lines.end(), "start recording");
  ASSERT_NE(start, lines.end());
  ASSERT_EQ(lines.back(), "stop recording");
  const std::vector<std::string> recorded(start + 1, lines.end() - 1);
  const auto count = [&](const char* line) {
    return std::count(recorded.begin(), recorded.end(), line);
  };
  EXPECT_EQ(count("start recording"), 0);
  EXPECT_EQ(recorded.front(), "begin step 0");
  EXPECT_EQ(count("begin step 1"), 1);
  EXPECT_EQ(count("begin a aten.mm.default"), 2);
  EXPECT_EQ(count("begin g _c10d_functional.all_gather_into_tensor.default"), 2);
  int depth = 0, max_depth = 0;
  for (const std::string& line : recorded) {
    depth += line.starts_with("begin ") ? 1 : -1;
    ASSERT_GE(depth, 0);
    max_depth = std::max(max_depth, depth);
  }
  EXPECT_EQ(depth, 0);
  EXPECT_EQ(max_depth, 2);
}

TEST(DeviceSession, ARecordedStepIsOneRange) {
  const auto lines =
      ranges_of({.graph = kShardedStep, .options = {"--nsys=reports", "--backend=cudagraph"}});
  EXPECT_THAT(lines, ElementsAre("start recording", "begin step 0", "end", "begin step 1", "end",
                                 "stop recording"));
}

TEST(DeviceSession, OrdinaryStepsAreNotInRanges) {
  EXPECT_THAT(ranges_of({.graph = kShardedStep}), testing::IsEmpty());
}

TEST(DeviceSession, RangesAreForGpus) {
  const RankRun run =
      run_on_fake_device({.graph = kShardedStep, .options = {"--nsys=reports", "--on=cpu"}});
  EXPECT_EQ(run.rank.status, Status::failed);
  EXPECT_EQ(run.rank.kind, "device");
  EXPECT_THAT(run.rank.reason, testing::EndsWith("leave out --nsys"));
}

TEST(DeviceSession, AWrongOptionIsAnErrorOfUsage) {
  const RankRun run = run_on_fake_device({.graph = kShardedStep, .options = {"--assume=u0"}});
  EXPECT_EQ(run.rank.status, Status::failed);
  EXPECT_EQ(run.rank.kind, "usage");
  EXPECT_EQ(run.exit_code, 2);
}

// The input has 12 MiB, and the captured step and an interpreted step have 24 MiB each.
TEST(DeviceSession, AProfileAfterReplaysNeedsNoMemoryForTheCapturedStep) {
  const RankRun run = run_on_fake_device({.graph = R"(
      x: f32[2048,1536] = input
      a: f32[2048,1536] = aten.relu(x)
      b: f32[2048,1536] = aten.sin(a)
      c: f32[2048,1536] = aten.cos(b)
      return [c]
    )",
                                          .options = {"--profile", "--backend=cudagraph"},
                                          .device = {.memory_bytes = 48 * kMiB}});
  EXPECT_EQ(run.rank.status, Status::done) << run.failure();
}

// The copies run at the same time as compute, and the profile shows them on their stream.
TEST(DeviceSession, OffloadsOverlapWithCompute) {
  const RankRun run =
      run_on_fake_device({.graph = kOffloadingStep, .options = {"--solo=0", "--profile"}});
  ASSERT_EQ(run.rank.status, Status::done) << run.failure();
  const auto graph = parse_literal(kOffloadingStep);
  const RankMeasured& measured = *run.rank.measured;
  const auto out = kernels_of(*graph, measured, "off"), back = kernels_of(*graph, measured, "back");
  const auto sin = kernels_of(*graph, measured, "b"), cos = kernels_of(*graph, measured, "c");
  ASSERT_TRUE(out.size() == 1 && back.size() == 1 && sin.size() == 1 && cos.size() == 1);
  EXPECT_EQ(out[0].name, "Memcpy DtoH");
  EXPECT_EQ(back[0].name, "Memcpy HtoD");
  EXPECT_GE(out[0].stream, FakeDevice::kFirstOfPool);
  EXPECT_EQ(out[0].stream, back[0].stream);
  EXPECT_EQ(sin[0].stream, FakeDevice::kComputeStream);
  // Bytes over the rate of the link, while compute runs.
  EXPECT_GT(out[0].end_ns - out[0].start_ns, 4 * kMiB * 1000 / DeviceOptions{}.copied_bytes_per_us);
  EXPECT_LT(sin[0].start_ns, out[0].end_ns);
  EXPECT_LT(cos[0].start_ns, back[0].end_ns);
  EXPECT_GE(back[0].start_ns, out[0].end_ns);
  EXPECT_GE(kernels_of(*graph, measured, "d")[0].start_ns, back[0].end_ns);
}

// The copies that replace a collective run at the same time as compute, and the wait waits for
// them, in replays too.
TEST(DeviceSession, CopiesOfASingleRankOverlapWithCompute) {
  constexpr const char* kStep = R"(
    group fsdp: 0 1 2 3
    w: f32[1024,1024] = parameter
    x: f32[1024,1024] = input
    g: f32[4096,1024] = _c10d_functional.all_gather_into_tensor(w, 4, 'fsdp')
    a: f32[1024,1024] = aten.sin(x)
    gw: f32[4096,1024] = _c10d_functional.wait_tensor(g)
    b: f32[4096,1024] = aten.cos(gw)
    return [a, b]
  )";
  const RankRun run =
      run_on_fake_device({.graph = kStep, .baseline = kStep, .options = {"--solo=0", "--profile"}});
  ASSERT_EQ(run.rank.status, Status::done) << run.failure();
  const auto graph = parse_literal(kStep);
  const RankMeasured& measured = *run.rank.measured;
  const auto copies = kernels_of(*graph, measured, "g"), sin = kernels_of(*graph, measured, "a");
  ASSERT_TRUE(copies.size() == 4 && sin.size() == 1);
  EXPECT_GE(copies[0].stream, FakeDevice::kFirstOfPool);
  EXPECT_LT(sin[0].start_ns, copies.back().end_ns);
  EXPECT_GE(kernels_of(*graph, measured, "b")[0].start_ns, copies.back().end_ns);
  EXPECT_EQ(measured.requested_peak_bytes, MemoryTimeline(*graph).peak_bytes());
  const RankRun replayed = run_on_fake_device(
      {.graph = kStep, .baseline = kStep, .options = {"--solo=0", "--backend=cudagraph"}});
  ASSERT_EQ(replayed.rank.status, Status::done) << replayed.failure();
  EXPECT_TRUE(run.rank.verified[0].bitwise && replayed.rank.verified[0].bitwise);
}

TEST(DeviceSession, OffloadedMemoryIsNotOnTheDevice) {
  const RankRun run =
      run_on_fake_device({.graph = kOffloadingStep, .options = {"--solo=0", "--profile"}});
  ASSERT_EQ(run.rank.status, Status::done) << run.failure();
  const auto graph = parse_literal(kOffloadingStep);
  EXPECT_EQ(run.rank.measured->requested_peak_bytes, MemoryTimeline(*graph).peak_bytes());
}

TEST(DeviceSession, CountsPinnedMemory) {
  const RankRun offloads = run_on_fake_device({.graph = kOffloadingStep, .options = {"--solo=0"}});
  ASSERT_EQ(offloads.rank.status, Status::done) << offloads.failure();
  EXPECT_EQ(offloads.rank.measured->pinned_peak_bytes, 4 * kMiB);
  const RankRun other = run_on_fake_device({.graph = kShardedStep});
  ASSERT_EQ(other.rank.status, Status::done) << other.failure();
  EXPECT_EQ(other.rank.measured->pinned_peak_bytes, 0);
}

TEST(DeviceSession, Tf32IsAChoiceThatTheEnvironmentNames) {
  const auto environment_with = [](std::vector<std::string> options, DeviceOptions device = {}) {
    const RankRun run = run_on_fake_device(
        {.graph = kShardedStep, .options = std::move(options), .device = std::move(device)});
    return run.rank.started ? run.rank.started->environment
                            : std::vector<std::string>{run.failure()};
  };
  EXPECT_THAT(environment_with({"--tf32=allow"}), ElementsAre("TF32 allowed"));
  EXPECT_THAT(environment_with({"--tf32=forbid"}), ElementsAre("TF32 forbidden"));
  EXPECT_THAT(environment_with({}), ElementsAre());
  const auto refused =
      ElementsAre(testing::EndsWith(" does not support TF32; set TF32 (--tf32) to auto"));
  EXPECT_THAT(environment_with({"--tf32=allow"}, {.has_tf32 = false}), refused);
  EXPECT_THAT(
      environment_with({"--tf32=forbid", "--on=cpu"}),
      ElementsAre(testing::EndsWith("the CPU does not support TF32; set TF32 (--tf32) to auto")));
}

TEST(DeviceSession, RecordsOffloads) {
  const RankRun run = run_on_fake_device({.graph = kOffloadingStep,
                                          .baseline = kOffloadingStep,
                                          .options = {"--solo=0", "--backend=cudagraph"}});
  ASSERT_EQ(run.rank.status, Status::done) << run.failure();
  EXPECT_THAT(run.rank.verified, SizeIs(1));
  EXPECT_TRUE(run.rank.verified[0].bitwise);
}

// The compiler is another process, which could not use the device.
TEST(DeviceSession, NothingIsCompiledOnADeviceForOneProcess) {
  for (const char* backend : {"--backend=inductor", "--backend=regional"}) {
    const RankRun run =
        run_on_fake_device({.graph = kShardedStep,
                            .options = {backend},
                            .device = {.exclusive_name = std::string("GPU of test ") +
                                                         std::to_string(::getpid()) + backend}});
    EXPECT_EQ(run.rank.status, Status::failed);
    EXPECT_EQ(run.rank.kind, "compile");
    EXPECT_EQ(run.rank.stage, "compile");
    EXPECT_THAT(run.rank.reason,
                testing::StartsWith("Fake device is in exclusive compute mode, so the compiler"));
    EXPECT_THAT(run.rank.reason, testing::HasSubstr("`nvidia-smi -c DEFAULT`"));
  }
}

// Each rank's compiler uses the GPU of its rank.
TEST(DeviceSession, TheCompilerSeesTheDeviceOfItsRank) {
  const TemporaryFolder folder;
  const std::string program = folder / "python";
  std::ofstream(program)
      << "#!/bin/sh\n"
      << R"(echo "{\"event\":\"failed\",\"text\":\"sees $CUDA_VISIBLE_DEVICES\"}")";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  ::setenv("JOINTER_PYTHON", program.c_str(), 1);
  ::setenv("CUDA_VISIBLE_DEVICES", "3,5", 1);
  const RankRun run =
      run_on_fake_device({.graph = kShardedStep, .options = {"--backend=inductor"}});
  ::unsetenv("JOINTER_PYTHON");
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(run.rank.kind, "compile");
  EXPECT_EQ(run.rank.reason, "sees 3");
}

// An operator without a deterministic kernel is an error only in the first try.
TEST(DeviceSession, OperatorsWithoutADeterministicKernelAreVerified) {
  constexpr const char* kPut = R"(
    x: f32[64] = input
    index: i64[8] = input
    v: f32[8] = input
    p: f32[64] = aten.put(x, index, v)
    return [p]
  )";
  const RankRun run = run_on_fake_device({.graph = kPut, .baseline = kPut});
  ASSERT_EQ(run.rank.status, Status::done) << run.failure();
  ASSERT_EQ(run.rank.verified.size(), 1);
  EXPECT_TRUE(run.rank.verified[0].bitwise);
}

TEST(DeviceSession, LimitsMemory) {
  const RankRun run =
      run_on_fake_device({.graph = kOffloadingStep,
                          .options = {"--solo=0", "--memory-limit=" + std::to_string(15 * kMiB)}});
  EXPECT_EQ(run.rank.status, Status::failed);
  EXPECT_EQ(run.rank.kind, "memory");
  EXPECT_THAT(run.rank.reason,
              testing::StartsWith("CUDA out of memory. Tried to allocate 4.00 MiB"));
  EXPECT_THAT(run.rank.reason, testing::Not(testing::HasSubstr("PYTORCH_ALLOC_CONF")));
  EXPECT_EQ(run.rank.node, "x");  // a segment for it has 20 MiB
}

}  // namespace
}  // namespace jointer::test
