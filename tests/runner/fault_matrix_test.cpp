// Every kind of fault in every stage of a run, on a simulated device: each ends in a failure that
// names the kind and the reason, and the node if a step has one.

#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>

#include "tests/runner/fake_device/graphs.h"
#include "tests/runner/fake_device/rank.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Status = RankResult::Status;

bool is_recorded(std::string_view stage) {
  return stage == "record" || stage == "replay";
}

// The call of a stage at which the fault happens: its second one, but a replay and the last barrier
// are one call, and a profile begins with barriers.
int call_of(std::string_view stage) {
  return stage == "replay" || stage == "finish" ? 1 : stage == "profile" ? 7 : 2;
}

RankSetup setup_of(FaultKind kind, std::string_view stage) {
  RankSetup setup{
      .graph = kShardedStep,
      .baseline = stage == "verify" ? kShardedStep : "",
      .options = {"--profile"},
      .fault = Fault{.kind = kind, .stage = std::string(stage), .call = call_of(stage)}};
  if (is_recorded(stage)) setup.options.emplace_back("--backend=cudagraph");
  return setup;
}

// True if the failure has a node. A replay and the last barrier have none, and if nothing waits for
// the device during a step, it reports an assertion after the step.
bool has_node(FaultKind kind, std::string_view stage) {
  if (stage == "replay" || stage == "finish") return false;
  return kind != FaultKind::device_assert || (stage != "verify" && stage != "measure");
}

// The kind of failure that a rank reports for a fault, and part of its reason.
struct Report {
  const char* kind;
  const char* reason;
};
Report report_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::hung:
      return {"hang", "no progress for 20 s"};
    case FaultKind::out_of_memory:
      return {"memory", "CUDA out of memory"};
    case FaultKind::driver_out_of_memory:
      return {"memory", "out of memory"};
    case FaultKind::device_assert:
      return {"device", "device-side assert"};
    case FaultKind::link_down:
      return {"collective", "network error"};
    case FaultKind::died:
      break;
  }
  return {"", ""};
}

// Which steps the reason names.
const char* context_of(std::string_view stage) {
  return stage == "replay"   ? "in a replay of the captured step: "
         : stage == "verify" ? "in the unedited graph: "
                             : "";
}

// The launcher derives the rest from the process and the status file, which has no positions of the
// unedited graph.
void expect_death(std::string_view stage, const RankRun& run) {
  EXPECT_EQ(run.rank.status, Status::died);
  EXPECT_EQ(run.signal, SIGKILL);
  if (!is_recorded(stage)) {
    EXPECT_EQ(run.status.stage_name(), stage);
  }
  EXPECT_EQ(run.status.position >= 0, has_node(FaultKind::died, stage) && stage != "verify");
}

void expect_report(FaultKind kind, std::string_view stage, const RankRun& run) {
  const RankResult& rank = run.rank;
  EXPECT_EQ(rank.status, kind == FaultKind::hung ? Status::hung : Status::failed);
  EXPECT_EQ(rank.kind, report_of(kind).kind);
  EXPECT_THAT(rank.reason, HasSubstr(report_of(kind).reason));
  EXPECT_THAT(rank.reason, StartsWith(context_of(stage)));
  EXPECT_NE(rank.node.empty(), has_node(kind, stage));
  EXPECT_EQ(rank.stage == "finish", stage == "finish");
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_THAT(run.failure(), StartsWith("rank 0: "));
  // Measured steps keep no history. The first replay is a warm-up step.
  // No history is kept while times are measured.
  const bool has_history = stage != "measure" && stage != "profile";
  EXPECT_EQ(!run.memory_snapshot.empty(), kind == FaultKind::out_of_memory && has_history);
}

class Faulty : public testing::TestWithParam<FaultKind> {};

TEST_P(Faulty, EveryStageNamesTheFailure) {
  const FaultKind kind = GetParam();
  std::vector<RankSetup> setups;
  for (const std::string_view stage : kFaultStages) setups.push_back(setup_of(kind, stage));
  const std::vector<RankRun> runs = run_on_fake_devices(setups);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string_view stage = kFaultStages[i];
    SCOPED_TRACE(std::string(to_string(kind)) + " in " + std::string(stage) + ": " +
                 runs[i].failure() + " (" + runs[i].rank.kind + ")");
    if (kind == FaultKind::died)
      expect_death(stage, runs[i]);
    else
      expect_report(kind, stage, runs[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Faulty, testing::ValuesIn(kFaultKinds), [](const auto& kind) {
  std::string name(to_string(kind.param));
  std::ranges::replace(name, ' ', '_');
  return name;
});

RankRun fault_at(FaultKind kind, const char* stage, int call) {
  return run_on_fake_device(
      {.graph = kShardedStep, .fault = Fault{.kind = kind, .stage = stage, .call = call}});
}

// The host has launched both steps and waits at their end.
TEST(FaultPlace, AHangIsReportedAtTheOldestUnfinishedWork) {
  const RankRun first = fault_at(FaultKind::hung, "measure", 1);
  EXPECT_EQ(first.rank.node, "g");
  EXPECT_EQ(first.rank.reason,
            "no progress for 20 s; the device has not finished "
            "_c10d_functional.all_gather_into_tensor.default of group fsdp");
  const RankRun second = fault_at(FaultKind::hung, "measure", 5);
  EXPECT_EQ(second.rank.node, "r");
  EXPECT_EQ(second.rank.reason,
            "no progress for 20 s; after gw, the device has not finished "
            "_c10d_functional.reduce_scatter_tensor.default of group fsdp");
}

// The launcher then compares it with the positions of other ranks.
TEST(FaultPlace, AHangIsInTheStatusFileToo) {
  const RankRun run = fault_at(FaultKind::hung, "measure", 1);
  EXPECT_EQ(run.status.position, 3);  // the wait for g
}

// A query may block while another thread waits for the device, and fails after an error.
TEST(FaultPlace, AHangIsReportedEvenIfTheDeviceDoesNotAnswer) {
  const auto blocks = [] {
    for (;;) ::pause();
  };
  const auto fails = [] {
    throw c10::AcceleratorError({__func__, __FILE__, __LINE__}, 710, "CUDA error: assert");
  };
  const std::array<std::function<void()>, 2> queries{blocks, fails};
  for (const std::function<void()>& before_query : queries) {
    RankSetup setup{.graph = kShardedStep,
                    .fault = Fault{.kind = FaultKind::hung, .stage = "measure", .call = 1}};
    setup.device.before_query = before_query;
    const RankRun run = run_on_fake_device(setup);
    EXPECT_EQ(run.rank.status, Status::hung) << run.failure();
    EXPECT_EQ(run.rank.reason, "no progress for 20 s");
    EXPECT_EQ(run.exit_code, 4);
  }
}

TEST(FaultPlace, ACallThatHangsAfterAllCollectivesIsNamedWithinAFewCalls) {
  const RankRun run = fault_at(FaultKind::hung, "measure", 6);
  EXPECT_EQ(run.rank.node, "d");
  EXPECT_THAT(run.rank.reason, HasSubstr("after rw, the device has not finished d or a call"));
}

// Collectives fail from the inputs on, and the first one reports it.
TEST(FaultPlace, ALinkThatIsDownIsNamedAtTheNextCollective) {
  const RankRun run = fault_at(FaultKind::link_down, "inputs", 1);
  EXPECT_EQ(run.rank.node, "g");
  EXPECT_EQ(run.rank.stage, "warm up");
}

TEST(FaultPlace, AnInputIsNamed) {
  for (const FaultKind kind :
       {FaultKind::out_of_memory, FaultKind::device_assert, FaultKind::hung}) {
    const RankRun run = fault_at(kind, "inputs", 2);  // the first one waits for the device
    EXPECT_EQ(run.rank.node, "w") << run.failure();
    EXPECT_EQ(run.rank.stage, "inputs");
  }
}

TEST(FaultPlace, AnAssertionMayBelongToAnEarlierNode) {
  const RankRun run = fault_at(FaultKind::device_assert, "measure", 1);
  EXPECT_THAT(run.rank.reason, HasSubstr("an earlier node may be the cause"));
}

// Such an error belongs to its call, and the device stays usable.
TEST(FaultPlace, ADriverWithoutMemoryIsNotAnErrorOfAnEarlierNode) {
  const RankRun run = fault_at(FaultKind::driver_out_of_memory, "measure", 2);
  EXPECT_EQ(run.rank.node, "a");
  EXPECT_EQ(run.rank.reason, "CUDA error: out of memory");
}

// NCCL reports the error as its own.
TEST(FaultPlace, ADriverWithoutMemoryForACollectiveIsAFailureOfMemory) {
  const RankRun run = fault_at(FaultKind::driver_out_of_memory, "warm up", 1);
  EXPECT_EQ(run.rank.kind, "memory");
  EXPECT_EQ(run.rank.node, "g");
  EXPECT_THAT(run.rank.reason, testing::EndsWith("Cuda failure 2 'out of memory'"));
}

// The first step waits for the device after every call.
TEST(FaultPlace, AnAssertionInTheFirstStepNamesItsNode) {
  const RankRun run = fault_at(FaultKind::device_assert, "warm up", 4);
  EXPECT_EQ(run.rank.node, "a");
  EXPECT_EQ(run.rank.reason, "CUDA error: device-side assert triggered");
}

}  // namespace
}  // namespace jointer::test
