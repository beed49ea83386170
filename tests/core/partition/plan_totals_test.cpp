// Sums over several values of a plan: shared storages and shared calls count once.

#include "core/partition/plan_totals.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "tests/support/graphs.h"
#include "tests/support/random_costs.h"
#include "tests/support/random_graph.h"

namespace jointer::test {
namespace {

// b and c both need a; v is a view of b.
constexpr const char* kShared = R"(
  x: f32[128,4] = input
  a: f32[128,4] = aten.sin(x)
  b: f32[128,4] = aten.cos(a)
  c: f32[128,4] = aten.exp(a)
  v: f32[512] = aten.view(b, [512])
  y: f32[128,4] = aten.mul.Tensor(b, c)
  dy: f32[128,4] = tangent
  gb: f32[128,4] = aten.mul.Tensor(dy, c)   {backward}
  gc: f32[128,4] = aten.mul.Tensor(dy, b)   {backward}
  gv: f32[512] = aten.sin(v)                {backward}
  return [y, gb, gc, gv]
)";

class PlanTotalsTest : public testing::Test {
 protected:
  PlanTotalsTest() : joint_(parse(kShared)), costs_(joint_.node_count()) {
    for (const char* name : {"a", "b", "c"})
      costs_[at(name).index()] = {.lane = NodeCost::Lane::compute, .ns = 1000};
    what_if_ =
        std::make_unique<PlanWhatIf>(joint_, costs_, std::vector<Flops>(joint_.node_count()));
  }
  [[nodiscard]] NodeId at(const char* name) const { return joint_.find(name); }
  [[nodiscard]] PlanTotals::Sum sum(const std::vector<const char*>& saved,
                                    const std::vector<const char*>& of) const {
    std::vector<NodeId> kept, nodes;
    for (const char* name : saved) kept.push_back(at(name));
    for (const char* name : of) nodes.push_back(at(name));
    const SavePlan plan = what_if_->plan_of(kept, {}).value();
    return PlanTotals::make(*what_if_, plan).value()->of(nodes);
  }

  Graph joint_;
  std::vector<NodeCost> costs_;
  std::unique_ptr<PlanWhatIf> what_if_;
};

constexpr std::int64_t kSavedBytes = 128 * 4 * 4;

TEST_F(PlanTotalsTest, ACallThatSeveralValuesNeedCountsOnce) {
  EXPECT_EQ(sum({}, {"b"}).recompute_ns, 2000);
  EXPECT_EQ(sum({}, {"c"}).recompute_ns, 2000);
  EXPECT_EQ(sum({}, {"b", "c"}).recompute_ns, 3000);
  EXPECT_EQ(sum({}, {"b", "c"}).calls, 3U);
  EXPECT_EQ(sum({"a"}, {"b", "c"}).recompute_ns, 2000);
}

TEST_F(PlanTotalsTest, AStorageOfSeveralValuesCountsOnce) {
  EXPECT_EQ(sum({}, {"b"}).bytes, kSavedBytes);
  EXPECT_EQ(sum({}, {"v"}).bytes, kSavedBytes);
  EXPECT_EQ(sum({}, {"b", "v"}).bytes, kSavedBytes);
  // The storage of saved values belongs to the first of them.
  EXPECT_EQ(sum({"b", "v"}, {"b", "v"}).bytes, kSavedBytes);
  EXPECT_EQ(sum({"b", "v"}, {"v"}).bytes, 0);
  EXPECT_EQ(sum({"b", "v"}, {"b", "c", "v"}).bytes, 2 * kSavedBytes);
}

// A candidate alone has its own numbers; all saved ones have the plan's bytes; and no sum exceeds
// the sum of its parts.
RC_GTEST_PROP(PlanTotalsProperty, AgreeWithCandidatesAndFigures, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  std::mt19937_64 chance(seed);
  const auto made = partition(
      random_graph(seed, {.calls = 10 + chance() % 60, .symbols = false, .writes = false}),
      {.partitioner = chance() % 2 == 0 ? Partitioner::min_cut : Partitioner::default_partition});
  RC_PRE(made.has_value() && made->plan.redrawn.empty());  // states of generators belong to no row
  const Graph& joint = made->joint;
  std::vector<Flops> flops(joint.node_count());
  for (Flops& each : flops) each.total = static_cast<std::int64_t>(chance() % 1000);
  const PlanWhatIf what_if(joint, random_costs(joint, seed), flops);
  const auto candidates = what_if.candidates(made->plan);
  const auto figures = what_if.figures(made->plan);
  const auto totals = PlanTotals::make(what_if, made->plan);
  RC_PRE(candidates && figures && totals);
  PlanTotals::Sum parts;
  std::vector<NodeId> saved, some;
  for (const SaveCandidate& c : *candidates) {
    const PlanTotals::Sum own = (*totals)->of(std::span(&c.node, 1));
    RC_ASSERT(own.bytes == c.bytes);
    RC_ASSERT(own.recompute_ns == c.recompute_ns);
    RC_ASSERT(own.recompute_flops == c.recompute_flops);
    RC_ASSERT(own.calls == c.chain);
    // A call with an effect may be saved and run again.
    if (std::ranges::count(made->plan.saved, c.node) > 0) saved.push_back(c.node);
    if (chance() % 2 == 0) continue;
    some.push_back(c.node);
    parts.bytes += own.bytes;
    parts.recompute_ns += own.recompute_ns;
  }
  if (made->plan.offloaded.empty()) RC_ASSERT((*totals)->of(saved).bytes == figures->saved_bytes);
  const PlanTotals::Sum sum = (*totals)->of(some);
  RC_ASSERT(sum.bytes <= parts.bytes);
  RC_ASSERT(sum.recompute_ns <= parts.recompute_ns);
}

}  // namespace
}  // namespace jointer::test
