#include "passes/tune/training_flags.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "passes/built_in.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TrainingFlags flags_of(std::string_view pipeline, TrainedAs trained_as = TrainedAs::compiled) {
  const PassRegistry registry = built_in_passes();
  return training_flags(parse_pipeline(pipeline).value(), trained_as, registry);
}

// The reason of the only step without settings.
std::string why_missing(std::string_view pipeline) {
  std::string reason;
  for (const StepFlags& each : flags_of(pipeline).steps) {
    if (each.reason.empty()) continue;
    EXPECT_EQ(reason, "") << pipeline;
    EXPECT_TRUE(each.settings.empty()) << pipeline;
    reason = each.reason;
  }
  return reason;
}

TEST(TrainingFlagsTest, ExpressesPoliciesPartitionersAndOrders) {
  const TrainingFlags flags = flags_of(
      "fsdp_reshard_after_fwd{reshard=false},knapsack_budget{budget=0.4,solver=greedy},"
      "reorder_for_peak_memory,"
      "reorder_communication_preserving_peak_memory{reorder_iterative_peak_memory_budget=0.02},"
      "sink_waits_iterative");
  EXPECT_TRUE(flags.are_complete());
  EXPECT_EQ(flags.text(), R"(# Options of torchtitan 0.3
--parallelism.fsdp_reshard_after_forward never
# torch 2.15, before the model is compiled
import torch._functorch.config
import torch._inductor.config
import torch._inductor.config_comms
torch._inductor.config.reorder_for_compute_comm_overlap = True
torch._inductor.config.reorder_for_compute_comm_overlap_passes = []
torch._functorch.config.activation_memory_budget = 0.4
torch._functorch.config.activation_memory_budget_solver = "greedy"
torch._inductor.config.reorder_for_peak_memory = True
torch._inductor.config.reorder_for_compute_comm_overlap_passes += ["reorder_communication_preserving_peak_memory"]
torch._inductor.config_comms.reorder_iterative_peak_memory_budget = 0.02
torch._inductor.config_comms.reorder_iterative_unsafe_collectives_reorder = False
torch._inductor.config.reorder_for_compute_comm_overlap_passes += ["sink_waits_iterative"]
torch._inductor.config_comms.sink_waits_iterative_unsafe_collectives_reorder = False
)");
}

TEST(TrainingFlagsTest, ExpressesBuckets) {
  const std::string greedy =
      flags_of("greedy_bucketing_by_mb{bucket_cap_mb=500,all_reduce=false}").text();
  EXPECT_THAT(greedy, HasSubstr("\ntorch._inductor.config.bucket_all_gathers_fx = \"all\"\n"));
  EXPECT_THAT(greedy,
              HasSubstr("bucket_reduce_scatters_fx_bucket_size_determinator = lambda bucket: "
                        "500.0\n"));
  EXPECT_THAT(greedy, Not(HasSubstr("all_reduces")));
  // Passes that torch runs by default are turned off.
  EXPECT_THAT(greedy, HasSubstr("torch._inductor.config.reorder_for_peak_memory = False\n"));
  const std::string overlap = flags_of("autobucketing_reordering{max_in_flight_gb=2}").text();
  constexpr std::string_view kModule = "torch._inductor.config.aten_distributed_optimizations";
  for (const char* setting : {"enable_overlap_scheduling = True", "collective_bucketing = True",
                              "max_in_flight_gb = 2.0"})
    EXPECT_THAT(overlap, HasSubstr(fmt::format("\n{}.{}\n", kModule, setting)));
  EXPECT_THAT(overlap, Not(HasSubstr("max_coll_distance")));
  EXPECT_THAT(flags_of("transformer_block_bucketing").text(),
              HasSubstr("--compile.mode jit --compile.passes transformer_block_bucketing\n"));
}

TEST(TrainingFlagsTest, TheMinimumCutIsTorchsDefault) {
  const TrainingFlags flags = flags_of("min_cut_partition,reorder_for_peak_memory");
  EXPECT_TRUE(flags.are_complete());
  EXPECT_TRUE(flags.steps.front().settings.empty());
}

TEST(TrainingFlagsTest, SaysWhyAStepHasNoSetting) {
  EXPECT_EQ(why_missing("min_cut_partition,place_collectives"), "this is a pass of Jointer");
  EXPECT_EQ(why_missing("fastest_plan"), "this is a pass of Jointer");
  EXPECT_THAT(why_missing("apply_sac,min_cut_partition"), HasSubstr("--export torchtitan"));
  EXPECT_EQ(why_missing("knapsack_budget{strict=true}"), "torch's rounding can exceed the budget");
  EXPECT_THAT(why_missing("autobucketing_reordering{max_bucket_memory_gb=4}"),
              StartsWith("torch has no setting for max_bucket_memory_gb=4"));
  EXPECT_EQ(why_missing("reorder_for_peak_memory{methods=[bfs]}"),
            "torch always tries lpmf, bfs and dfs");
  const std::string text = flags_of("min_cut_partition,place_collectives{rounds=4}").text();
  EXPECT_THAT(text,
              HasSubstr("\n# Without a setting\n# place_collectives{rounds=4}: this is a pass "
                        "of Jointer\n"));
}

// Inductor runs its passes in a fixed order.
TEST(TrainingFlagsTest, OrdersThatTorchDoesNotRunHaveNoSettings) {
  EXPECT_EQ(why_missing("raise_comms,reorder_for_peak_memory"),
            "torch runs reorder_for_peak_memory before raise_comms");
  EXPECT_EQ(why_missing("sink_waits,autobucketing_reordering"),
            "torch runs autobucketing_reordering before sink_waits");
  EXPECT_EQ(why_missing("reorder_for_peak_memory,reorder_for_peak_memory"),
            "torch runs reorder_for_peak_memory only once");
  EXPECT_EQ(why_missing("raise_comms,sink_waits,raise_comms"), "");
  EXPECT_EQ(why_missing("transformer_block_bucketing,raise_comms"),
            "graph_trainer turns off this pass with transformer_block_bucketing");
}

TEST(TrainingFlagsTest, PassesThatShareAParameterMustAgree) {
  EXPECT_EQ(
      why_missing("reorder_communication_preserving_peak_memory,"
                  "sink_waits_iterative{reorder_sink_runtime_estimations_comm_mult=3}"),
      "torch has one reorder_sink_runtime_estimations_comm_mult for all steps, and an earlier "
      "step has 2.0");
}

TEST(TrainingFlagsTest, FlatStepsAreRunByGraphTrainer) {
  const TrainingFlags eager = flags_of(
      "tag_with_memory_policy{policy=eager},selective_activation_remat", TrainedAs::flat_step);
  EXPECT_TRUE(eager.are_complete());
  EXPECT_EQ(eager.text(),
            "# Options of torchtitan 0.3\n--compile.memory_policy eager --compile.disable_passes "
            "joint_transformer_block_bucketing_reordering_pass\n");
  const TrainingFlags moved = flags_of(
      "tag_with_memory_policy,selective_activation_remat,place_collectives", TrainedAs::flat_step);
  EXPECT_FALSE(moved.are_complete());
  EXPECT_EQ(moved.steps.back().reason, "graph_trainer has no flag for this");
  EXPECT_TRUE(moved.steps.front().reason.empty());
}

TEST(TrainingFlagsTest, NoStepsAreNotComplete) {
  EXPECT_FALSE(flags_of("").are_complete());
  EXPECT_FALSE(flags_of("", TrainedAs::flat_step).are_complete());
  EXPECT_FALSE(flags_of("~raise_comms").are_complete());
}

}  // namespace
}  // namespace jointer::test
