// Joining the pair of any plan of any joint graph gives a joint graph that computes the same, and
// from which the plan makes the same pair.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <optional>
#include <random>

#include "core/capture/native_reader.h"
#include "core/capture/native_writer.h"
#include "core/cost/node_flops.h"
#include "core/graph/canonical.h"
#include "core/graph/validate.h"
#include "core/partition/join_pair.h"
#include "core/partition/partition.h"
#include "core/partition/plan_what_if.h"
#include "core/schedule/simulation.h"
#include "tests/support/must.h"
#include "tests/support/names.h"
#include "tests/support/random_graph.h"
#include "tests/support/symbolic_run.h"

namespace jointer::test {
namespace {

Figures figures_of(const Graph& pair) {
  const auto estimator = make_estimator({});
  const MemoryTimeline memory(pair);
  const Simulation simulation(pair, estimate_all(pair, **estimator));
  return {.peak_bytes = memory.peak_bytes(),
          .step_ns = simulation.step_ns(),
          .exposed_ns = simulation.exposed_ns()};
}

// Decides at random about some values.
SavePlan some_plan(const Partition& partition, Partitioner partitioner, std::mt19937_64& chance) {
  const Graph& joint = partition.joint;
  const PlanWhatIf what_if(joint, std::vector<NodeCost>(joint.node_count()),
                           std::vector<Flops>(joint.node_count()), {}, {},
                           {.transfers = {}, .partitioner = partitioner});
  SavePlan plan = partition.plan;
  for (int i = 0; i < 4; ++i) {
    const auto candidates = what_if.candidates(plan);
    if (!candidates || candidates->empty()) break;
    std::vector<NodeId> nodes;
    for (std::size_t k = 0; k < 1 + chance() % 4; ++k)
      nodes.push_back((*candidates)[chance() % candidates->size()].node);
    if (const auto change = what_if.change_all(plan, nodes, static_cast<PlanAction>(chance() % 3)))
      plan = change->plan;
  }
  return plan;
}

bool draws(const Graph& pair) {
  return std::ranges::any_of(pair.order(), [&](NodeId id) {
    return pair.target(pair.node(id)).find("rng_state") != std::string_view::npos;
  });
}

// The names of both halves' calls, in order.
std::vector<std::string> calls_with_parts(const Graph& pair) {
  std::vector<std::string> found;
  for (const NodeId id : pair.order())
    if (pair.node(id).kind == NodeKind::call)
      found.push_back(fmt::format("{}:{}", pair.node(id).part.index(), pair.name(id)));
  return found;
}

struct Case {
  Partitioner partitioner = Partitioner::min_cut;
  Graph joint;
  Partition partition;
  SavePlan plan;
  Graph pair;
};

// A random plan of a random joint graph; nullopt if the graph cannot be partitioned.
std::optional<Case> some_case(std::uint64_t seed) {
  std::mt19937_64 chance(seed);
  Case made;
  if (chance() % 4 == 0) made.partitioner = Partitioner::default_partition;
  made.joint =
      random_graph(seed, {.calls = 4 + chance() % 60,
                          .symbols = chance() % 2 == 0,
                          .gradients = true,
                          .writes = made.partitioner != Partitioner::min_cut && chance() % 2 == 0,
                          .on_cpu = chance() % 4 == 0,
                          .input_copies = chance() % 2 == 0});
  auto partitioned = partition(made.joint, {.partitioner = made.partitioner});
  if (!partitioned) return std::nullopt;
  made.partition = *std::move(partitioned);
  made.plan = some_plan(made.partition, made.partitioner, chance);
  auto pair = emit_pair(made.partition.joint, made.plan, made.partitioner);
  if (!pair) return std::nullopt;
  made.pair = *std::move(pair);
  return made;
}

RC_GTEST_PROP(JoinPairProperty, ThePlanMakesTheSamePair, (std::uint64_t seed, bool from_file)) {
  const std::optional<Case> made = some_case(seed);
  RC_PRE(made.has_value());
  Graph pair = made->pair;
  if (from_file) {
    auto read = read_native("pair", PaddedBytes(write_native(pair)));
    if (!read) RC_FAIL(read.error().message);
    pair = *std::move(read);
  }
  const auto joined = join_with_plan(pair);
  if (!joined) RC_FAIL(joined.error().message);
  if (const auto sound = validate(joined->joint); !sound) RC_FAIL(sound.error().message);
  RC_ASSERT(joined->joint.part(PartId(0)).kind == CaptureKind::joint);
  const auto computed = symbolic_run(made->joint);
  RC_ASSERT(symbolic_run(joined->joint) == computed);
  RC_ASSERT(joined->undescribed == 0U);

  const auto again = emit_pair(joined->joint, joined->plan, made->partitioner);
  if (!again) RC_FAIL(again.error().message);
  RC_ASSERT(symbolic_run(*again) == computed);
  if (!draws(pair)) {  // others have lost their names
    RC_ASSERT(names(joined->joint, joined->plan.saved) ==
              names(made->partition.joint, made->plan.saved));
    RC_ASSERT(names(joined->joint, joined->plan.saved_symbols) ==
              names(made->partition.joint, made->plan.saved_symbols));
  }
  if (calls_with_parts(*again) != calls_with_parts(pair)) return;  // see below
  RC_ASSERT(figures_of(*again) == figures_of(pair));
  if (!draws(pair)) RC_ASSERT(graph_hash(*again) == graph_hash(pair));
}

// A pair does not show where the joint graph had calls of the backward that need no tangent, and
// the default partitioner leaves calls without a visible reason.
TEST(JoinPairProperty, MostPairsKeepTheirOrder) {
  int all = 0, same = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const std::optional<Case> made = some_case(seed);
    if (!made || draws(made->pair)) continue;
    const auto joined = must(join_with_plan(made->pair));
    const auto again = must(emit_pair(joined.joint, joined.plan, made->partitioner));
    ++all;
    if (calls_with_parts(again) == calls_with_parts(made->pair)) ++same;
  }
  EXPECT_GT(all, 100);
  EXPECT_GT(same * 10, all * 7) << same << " of " << all;
}

RC_GTEST_PROP(JoinPairProperty, AnyPairIsJoinedOrRefused, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const bool writes = *rc::gen::arbitrary<bool>();
  const Graph pair = random_graph(seed, {.calls = 40, .pair = true, .writes = writes});
  const auto joined = join_with_plan(pair);
  if (!joined) {
    RC_ASSERT(joined.error().kind == Error::Kind::usage);
    RC_DISCARD("refused");
  }
  if (const auto sound = validate(joined->joint); !sound) RC_FAIL(sound.error().message);
  // Without descriptors, the results of the forward that the backward receives count as saved.
  auto computed = symbolic_run(joined->joint);
  const auto all = symbolic_run(pair);
  const auto results =
      std::ssize(joined->joint.part(PartId(0)).outputs) - std::ssize(pair.part(PartId(1)).outputs);
  computed.erase(computed.begin(), computed.begin() + results);
  RC_ASSERT(computed.size() <= all.size());
  RC_ASSERT(std::equal(computed.rbegin(), computed.rend(), all.rbegin()));
}

}  // namespace
}  // namespace jointer::test
