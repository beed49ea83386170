// Compares the numbers of a plan on a real joint graph with those of the pair that torch made of
// it.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "core/graph/validate.h"
#include "core/open/open.h"
#include "core/partition/pair_order.h"
#include "core/partition/plan_what_if.h"
#include "core/schedule/caching_allocator.h"
#include "tests/support/must.h"
#include "tests/support/names.h"
#include "tests/support/passed_values.h"
#include "tests/support/paths.h"
#include "tests/support/slow.h"

namespace jointer::test {
namespace {

struct Capture {
  const char *joint, *pair;
};

void PrintTo(const Capture& capture, std::ostream* out) {
  *out << capture.pair;
}

class PlanCapture : public testing::TestWithParam<Capture> {};

TEST_P(PlanCapture, FiguresEqualThoseOfTorchsPair) {
  JOINTER_NEEDS_SHARED();
  const std::string base = shared_directory() + "/captures/" + GetParam().pair;
  const auto captured = must(open_graph(
      {.path = shared_directory() + "/captures/" + GetParam().joint + ".joint.json.zst"}));
  // The graph as that partitioner received it.
  const auto partitioner =
      base.ends_with(".default") ? Partitioner::default_partition : Partitioner::min_cut;
  const auto seen = must(partition(captured, {.partitioner = partitioner}));
  const Graph* const joint = &seen.joint;
  const auto pair =
      must(open_graph({.path = base + ".fw.json.zst", .backward = base + ".bw.json.zst"}));
  const auto found = must(plan_of_pair(*joint, pair));
  const SavePlan& plan = found;

  const PairOrders orders(*joint, partitioner);
  const auto order = must(orders.order(plan));
  std::vector<std::string> names;
  for (const auto* half : {&order.forward, &order.backward})
    for (const Place p : *half)
      if (orders.has(p, PairOrders::is_call)) names.emplace_back(joint->name(orders.node(p)));
  EXPECT_EQ(names, calls_of(pair));

  const auto estimator = must(make_estimator({}));
  std::vector<Flops> flops(joint->node_count());
  for (const NodeId id : joint->order()) flops[id.index()] = node_flops(*joint, joint->node(id));
  const PlanWhatIf what_if(*joint, estimate_all(*joint, *estimator), flops, {}, {},
                           {.transfers = {}, .partitioner = partitioner});
  const auto outcome = must(what_if.evaluate(plan));
  const MemoryTimeline memory(pair);
  const Simulation simulation(pair, estimate_all(pair, *estimator));
  EXPECT_TRUE(std::ranges::equal(outcome.profile, memory.profile()));
  EXPECT_EQ(what_if.reserved_bytes(plan), simulate_reserved(memory, memory.device()).peak_bytes);
  EXPECT_EQ(outcome.figures.figures, (Figures{.peak_bytes = memory.peak_bytes(),
                                              .step_ns = simulation.step_ns(),
                                              .exposed_ns = simulation.exposed_ns()}));
}

INSTANTIATE_TEST_SUITE_P(
    Captures, PlanCapture,
    testing::Values(
        Capture{"llama3_debug_tp2_fsdp2", "llama3_debug_tp2_fsdp2.default"},
        Capture{"llama3_8b_tp2_fsdp2", "llama3_8b_tp2_fsdp2.default"},
        Capture{"llama3_debug_tp2_fsdp2", "llama3_debug_tp2_fsdp2.min_cut"},
        Capture{"llama3_debug_tp2_fsdp2_graph_sac", "llama3_debug_tp2_fsdp2_graph_sac.min_cut"},
        Capture{"llama3_8b_tp2_fsdp2", "llama3_8b_tp2_fsdp2.min_cut"},
        Capture{"llama3_8b_tp2_fsdp2_graph_sac", "llama3_8b_tp2_fsdp2_graph_sac.min_cut"}),
    [](const auto& capture) {
      std::string name = capture.param.pair;
      std::replace(name.begin(), name.end(), '.', '_');
      return name;
    });

// Attention that is tagged for recomputation draws from generators of the caller. Torch's graphs do
// not describe the results of such calls, so their memory and time cannot be compared;
// PlanOfCapture compares the numbers with those of the emitted pair.
TEST(PlanCapture, CallsEqualThoseOfTorchsPairWithGenerators) {
  JOINTER_NEEDS_SHARED();
  const std::string base = shared_directory() + "/captures/llama3_8b_tp2_fsdp2_eager_sac";
  const auto captured = must(open_graph({.path = base + ".joint.json.zst"}));
  const auto seen = must(partition(captured));
  const auto pair = must(open_graph(
      {.path = base + ".min_cut.fw.json.zst", .backward = base + ".min_cut.bw.json.zst"}));
  const auto plan = must(plan_of_pair(seen.joint, pair));
  EXPECT_EQ(plan.saved, seen.plan.saved);
  const auto emitted = must(emit_pair(seen.joint, seen.plan));
  EXPECT_EQ(calls_of(emitted), calls_of(pair));
  const auto with_generators = std::ranges::count_if(pair.order(), [&](NodeId id) {
    return pair.target(pair.node(id)) == "graphsafe_run_with_rng_state";
  });
  EXPECT_EQ(with_generators, 32);
}

// A joint graph under torch's minimum cut, and then under the user's decisions.
class PlanOfCapture : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    JOINTER_NEEDS_SHARED();
    JOINTER_SLOW_IF(is_large_capture(GetParam()));
    auto graph = must(
        open_graph({.path = shared_directory() + "/captures/" + GetParam() + ".joint.json.zst"}));
    partition = must(jointer::partition(graph));
    estimator = *make_estimator({});
    costs = estimate_all(partition.joint, *estimator);
    flops.resize(partition.joint.node_count());
    for (const NodeId id : partition.joint.order())
      flops[id.index()] = node_flops(partition.joint, partition.joint.node(id));
    what_if = std::make_unique<PlanWhatIf>(
        partition.joint, costs, flops, MemoryOptions{}, SimulationOptions{},
        PlanWhatIfOptions{.transfers = estimator->transfer_costs()});
  }

  void expect_figures_of_pair(const SavePlan& plan) {
    const auto outcome = must(what_if->evaluate(plan));
    const auto pair = must(emit_pair(partition.joint, plan));
    const auto sound = validate(pair);
    EXPECT_TRUE(sound) << sound.error().message;
    const MemoryTimeline memory(pair);
    const Simulation simulation(pair, estimate_all(pair, *estimator));
    EXPECT_TRUE(std::ranges::equal(outcome.profile, memory.profile()));
    EXPECT_EQ(what_if->reserved_bytes(plan), simulate_reserved(memory, memory.device()).peak_bytes);
    EXPECT_EQ(outcome.figures.figures, (Figures{.peak_bytes = memory.peak_bytes(),
                                                .step_ns = simulation.step_ns(),
                                                .exposed_ns = simulation.exposed_ns()}));
  }

  // Every third candidate, or all of them.
  [[nodiscard]] SavePlan decided(const SavePlan& plan, PlanAction action, std::size_t every) {
    const auto candidates = what_if->candidates(plan);
    if (!candidates) return plan;
    std::vector<NodeId> nodes;
    for (std::size_t i = 0; i < candidates->size(); i += every)
      nodes.push_back((*candidates)[i].node);
    const auto change = what_if->change_all(plan, nodes, action);
    return change ? change->plan : plan;
  }

  Partition partition;
  std::unique_ptr<Estimator> estimator;
  std::vector<NodeCost> costs;
  std::vector<Flops> flops;
  std::unique_ptr<PlanWhatIf> what_if;
};

TEST_P(PlanOfCapture, FiguresEqualThoseOfThePair) {
  if (IsSkipped()) return;
  expect_figures_of_pair(partition.plan);
  const SavePlan saved = decided(partition.plan, PlanAction::save, 3);
  const SavePlan again = decided(partition.plan, PlanAction::recompute, 1);
  const SavePlan offloaded = decided(partition.plan, PlanAction::offload, 3);
  EXPECT_NE(saved, partition.plan);
  EXPECT_NE(again, partition.plan);
  EXPECT_FALSE(offloaded.offloaded.empty());
  for (const SavePlan& plan : {saved, again, offloaded}) expect_figures_of_pair(plan);

  const auto figures = [&](const SavePlan& plan) { return what_if->figures(plan).value(); };
  EXPECT_LT(figures(again).saved_bytes, figures(partition.plan).saved_bytes);
  EXPECT_GT(figures(again).recompute_ns, figures(partition.plan).recompute_ns);
  EXPECT_LT(figures(offloaded).saved_bytes, figures(partition.plan).saved_bytes);
  EXPECT_GT(figures(offloaded).offloaded_bytes, 0);
}

INSTANTIATE_TEST_SUITE_P(Captures, PlanOfCapture,
                         testing::Values("llama3_debug_tp2_fsdp2", "llama3_8b_tp2_fsdp2",
                                         "llama3_8b_tp2_fsdp2_eager_sac",
                                         "llama3_8b_tp2_fsdp2_graph_sac",
                                         "deepseek_v3_debug_tp2_fsdp2_ep2",
                                         "deepseek_v3_671b_tp8_fsdp32_ep32"),
                         [](const auto& capture) { return std::string(capture.param); });

}  // namespace
}  // namespace jointer::test
