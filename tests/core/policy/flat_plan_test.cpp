// Compares the numbers of a plan on a flat training step with those of the step that the plan's
// tags make of it: the same calls in the same order, the same memory, the same time.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>

#include "core/cost/node_flops.h"
#include "core/graph/validate.h"
#include "core/open/open.h"
#include "core/partition/partitioned_values.h"
#include "core/partition/plan_what_if.h"
#include "core/policy/apply_step_tags.h"
#include "core/policy/export.h"
#include "core/policy/point_of_step.h"
#include "tests/support/graphs.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"
#include "tests/support/random_costs.h"
#include "tests/support/random_graph.h"
#include "tests/support/symbolic_run.h"

namespace jointer::test {
namespace {

// A flat step whose plan changes.
class Deciding {
 public:
  Deciding(Graph step, std::vector<NodeCost> costs, const TransferCosts& transfers,
           const MemoryOptions& memory = {})
      : step_(std::move(step)),
        costs_(std::move(costs)),
        transfers_(transfers),
        memory_(memory),
        what_if_(step_, costs_, std::vector<Flops>(step_.node_count()), memory, {},
                 {.transfers = transfers}) {}

  [[nodiscard]] const PlanWhatIf& what_if() const { return what_if_; }
  [[nodiscard]] const Graph& step() const { return step_; }
  void set_plan(SavePlan plan) { plan_ = std::move(plan); }

  // The step with the plan's tags applied.
  [[nodiscard]] Result<Graph> applied() const {
    Graph step = step_;
    JOINTER_TRY(const Edit tags, tag_as_planned(step, plan_));
    JOINTER_CHECK(apply(step, tags));
    JOINTER_CHECK(apply_step_tags(step));
    return step;
  }

  // Describes the difference between the predicted and the real step; empty if there is none.
  [[nodiscard]] std::string complaint() const {
    const auto outcome = what_if_.evaluate(plan_);
    if (!outcome) return outcome.error().message;
    const auto real = applied();
    if (!real) return real.error().message;
    if (const auto sound = validate(*real); !sound) return sound.error().message;
    if (std::string text = compare_calls(*real, outcome->steps); !text.empty()) return text;
    const std::vector<NodeCost> costs = costs_of(*real);
    const MemoryTimeline memory(*real, memory_);
    if (!std::ranges::equal(outcome->profile, memory.profile()))
      return difference(outcome->profile, memory);
    const Simulation simulation(*real, costs);
    const Figures figures{.peak_bytes = memory.peak_bytes(),
                          .step_ns = simulation.step_ns(),
                          .exposed_ns = simulation.exposed_ns()};
    if (outcome->figures.figures != figures)
      return fmt::format("a step of {} ns instead of {}", outcome->figures.figures.step_ns,
                         figures.step_ns);
    if (outcome->figures.compute_ns != simulation.compute_ns())
      return fmt::format("kernels take {} ns instead of {}", outcome->figures.compute_ns,
                         simulation.compute_ns());
    const auto kept = partitioned_values(*real, costs, std::vector<Flops>(real->node_count()));
    if (!kept) return kept.error().message;
    PlanFigures of_kept = partitioned_figures(*real, *kept);
    of_kept.figures = figures;
    const PlanFigures& predicted = outcome->figures;
    if (predicted.saved_bytes != of_kept.saved_bytes)
      return fmt::format("saves {} instead of {}", predicted.saved_bytes, of_kept.saved_bytes);
    if (predicted.offloaded_bytes != of_kept.offloaded_bytes)
      return fmt::format("offloads {} instead of {}", predicted.offloaded_bytes,
                         of_kept.offloaded_bytes);
    if (predicted.recomputed != of_kept.recomputed)
      return fmt::format("recomputes {} instead of {}", predicted.recomputed, of_kept.recomputed);
    return {};
  }

  // Changes some of the candidates; returns false if nothing could be decided.
  bool decide(std::mt19937_64& chance) {
    const auto candidates = what_if_.candidates(plan_);
    if (!candidates || candidates->empty()) return false;
    std::vector<NodeId> nodes;
    const std::size_t max = chance() % 3 == 0 ? candidates->size() : 1 + chance() % 4;
    for (std::size_t i = 0; i < max; ++i)
      nodes.push_back((*candidates)[chance() % candidates->size()].node);
    const auto change = what_if_.change_all(plan_, nodes, static_cast<PlanAction>(chance() % 3));
    if (!change) return false;
    plan_ = change->plan;
    return true;
  }

 private:
  [[nodiscard]] std::string compare_calls(const Graph& real, std::span<const NodeId> calls) const {
    std::size_t next = 0;
    for (const NodeId id : real.order()) {
      const Node& n = real.node(id);
      if (n.kind != NodeKind::call) continue;
      if (next >= calls.size()) return fmt::format("{} is an extra call", real.name(id));
      const NodeId expected = calls[next++];
      const NodeId from = id.index() < step_.node_count() ? id
                          : moves_memory(real, n)         ? NodeId{}
                                                          : n.origin;
      if (from && from != expected)
        return fmt::format("{} is in the place of {}", real.name(id), step_.name(expected));
    }
    return next < calls.size() ? "calls are missing" : "";
  }

  [[nodiscard]] static std::string difference(std::span<const std::int64_t> profile,
                                              const MemoryTimeline& memory) {
    const auto [a, b] = std::ranges::mismatch(profile, memory.profile());
    if (a == profile.end() || b == memory.profile().end()) return "the profile has another length";
    const auto point = static_cast<std::size_t>(a - profile.begin());
    return fmt::format("{} live bytes instead of {} at point {}", *a, *b, point);
  }

  [[nodiscard]] std::vector<NodeCost> costs_of(const Graph& real) const {
    std::vector<NodeCost> costs(real.node_count());
    for (const NodeId id : real.order()) {
      const Node& n = real.node(id);
      if (id.index() < step_.node_count())
        costs[id.index()] = costs_[id.index()];
      else if (real.is_transfer(n))
        costs[id.index()] = transfers_.of(real.output_bytes(n));
      else if (moves_memory(real, n))
        costs[id.index()].host_ns = transfers_.wait_host_ns;
      else if (n.origin)
        costs[id.index()] = costs_[n.origin.index()];
    }
    return costs;
  }

  Graph step_;
  std::vector<NodeCost> costs_;
  TransferCosts transfers_;
  MemoryOptions memory_;
  PlanWhatIf what_if_;
  SavePlan plan_;
};

Graph random_step(std::uint64_t seed, bool writes) {
  Graph graph = random_graph(seed, {.calls = 60, .writes = writes});
  graph.part(PartId(0)).kind = CaptureKind::train_step;
  // A step has its inputs first.
  std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  std::stable_partition(order.begin(), order.end(),
                        [&](NodeId id) { return graph.node(id).kind == NodeKind::placeholder; });
  graph.set_order(order);
  for (const NodeId id : graph.order()) graph.node(id).policy = MemoryPolicy::none;
  return graph;
}

void check(std::uint64_t seed, bool writes) {
  std::mt19937_64 chance(seed);
  Graph graph = random_step(seed, writes);
  std::vector<NodeCost> costs = random_costs(graph, seed);
  Deciding deciding(std::move(graph), std::move(costs), kTransfers);
  const auto start = deciding.what_if().plan_of({}, {});
  if (!start) RC_FAIL(start.error().message);
  deciding.set_plan(*start);
  for (int round = 0; round < 6; ++round) {
    if (const std::string complaint = deciding.complaint(); !complaint.empty()) RC_FAIL(complaint);
    RC_ASSERT(symbolic_run(*deciding.applied()) == symbolic_run(deciding.step()));
    if (!deciding.decide(chance)) break;
  }
}

RC_GTEST_PROP(FlatPlanProperty, FiguresEqualThoseOfTheStep, (std::uint64_t seed)) {
  check(seed, false);
}

RC_GTEST_PROP(FlatPlanProperty, FiguresEqualThoseOfAStepThatWrites, (std::uint64_t seed)) {
  check(seed, true);
}

class FlatCapture : public testing::TestWithParam<const char*> {};

TEST_P(FlatCapture, FiguresEqualThoseOfTheStep) {
  JOINTER_NEEDS_SHARED();
  auto opened = must(open_graph({.path = shared_directory() + "/captures/" + GetParam()}));
  const auto estimator = must(make_estimator({}));
  std::vector<NodeCost> costs = estimate_all(opened, *estimator);
  Deciding deciding(std::move(opened), std::move(costs), estimator->transfer_costs());
  const auto start = must(deciding.what_if().plan_of({}, {}));
  deciding.set_plan(start);
  std::mt19937_64 chance(1);
  for (int round = 0; round < 4; ++round) {
    EXPECT_EQ(deciding.complaint(), "") << round;
    if (!deciding.decide(chance)) break;
  }
}

// A search starts from the step with its tags applied, not from the step as captured.
TEST(PointOfStep, IsTheStepWithItsTagsApplied) {
  Graph tagged = must(
      open_graph({.path = source_path("resources/samples/llama_debug_fsdp2.train_step.json.zst")}));
  const NodeId silu = tagged.find("silu");
  ASSERT_TRUE(bool(silu));
  tagged.node(silu).policy = MemoryPolicy::must_recompute;
  const auto estimator = must(make_estimator({}));
  const ParetoPoint point = must(point_of_step(tagged, "now", *estimator, {}));
  EXPECT_EQ(point.name, "now");
  EXPECT_LT(point.budget, 0);
  EXPECT_EQ(std::ranges::count(point.plan.saved, silu), 0);

  Graph step = tagged;
  must(apply_step_tags(step));
  const Simulation simulation(step, estimate_all(step, *estimator));
  EXPECT_EQ(figures_of(point).peak_bytes, MemoryTimeline(step, {}).peak_bytes());
  EXPECT_EQ(figures_of(point).step_ns, simulation.step_ns());
  EXPECT_EQ(point.figures.compute_ns, simulation.compute_ns());
  EXPECT_GT(point.figures.recomputed, 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Captures, FlatCapture,
    testing::Values("llama_like_train_step.json.zst",
                    "torchtitan_0.3/llama3_8b_fsdp8_b2_eager.traced.json.zst",
                    "torchtitan_0.3/llama3_8b_fsdp8_b2_eager.after_passes.json.zst",
                    "torchtitan_0.3/llama3_debug_flex.cuda.fsdp4.traced.train_step.json.zst",
                    "torchtitan_0.3/llama3_debug_sdpa_ce.cpu.fsdp2_tp2.traced.train_step.json.zst",
                    "torchtitan_0.3/"
                    "deepseek_v3_debug_flex.cuda.fsdp4_ep2.traced.train_step.json.zst"),
    [](const testing::TestParamInfo<const char*>& capture) {
      std::string name = capture.param;
      std::ranges::replace_if(
          name, [](char c) { return std::isalnum(c) == 0; }, '_');
      return name;
    });

}  // namespace
}  // namespace jointer::test
