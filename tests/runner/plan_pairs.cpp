// plan_pairs JOINT OUT POLICY [SEED]: captures the pair of a joint graph under a policy.
//
//   save       every value that the backward reads is saved: nothing is recomputed
//   min_cut    torch's minimum cut
//   recompute  everything possible is recomputed, except values that a later layer reads
//   offload    every second saved value is offloaded
//   random     twenty decisions about random candidates, with the seed SEED
//
// Prints the numbers of the plan, as JSON.

#include <fmt/core.h>

#include <cstdlib>
#include <random>
#include <string>

#include "core/base/bytes.h"
#include "core/capture/native_writer.h"
#include "core/graph/validate.h"
#include "core/open/open.h"
#include "core/partition/offload_transfers.h"
#include "core/partition/plan_what_if.h"

namespace {

using namespace jointer;

// Costs are 0, since these plans do not depend on FLOPs and times.
struct Planning {
  explicit Planning(Graph joint)
      : graph(std::move(joint)),
        what_if(graph, std::vector<NodeCost>(graph.node_count()),
                std::vector<Flops>(graph.node_count())) {}

  Result<void> decide(std::size_t every, PlanAction action) {
    JOINTER_TRY(const std::vector<SaveCandidate> candidates, what_if.candidates(plan));
    std::vector<NodeId> nodes;
    for (std::size_t i = 0; i < candidates.size(); i += every) nodes.push_back(candidates[i].node);
    JOINTER_TRY(const PlanChange change, what_if.change_all(plan, nodes, action));
    plan = change.plan;
    return {};
  }

  // Saves values that another layer reads, as torch saves the borders of recomputed regions.
  Result<void> save_borders() {
    const std::vector<std::int32_t> layers = layers_by_node(graph);
    std::vector<NodeId> borders;
    for (const NodeId id : graph.order()) {
      const Node& n = graph.node(id);
      if (n.kind != NodeKind::call || n.phase != Phase::forward) continue;
      for (const NodeId input : graph.inputs(n))
        if (graph.node(input).kind == NodeKind::call && graph.node(input).phase == Phase::forward &&
            layers[input.index()] >= 0 && layers[input.index()] != layers[id.index()])
          borders.push_back(input);
    }
    // Saving one may make others unnecessary; those are skipped.
    if (!borders.empty())
      if (auto change = what_if.change_all(plan, borders, PlanAction::save)) plan = change->plan;
    return {};
  }

  Result<void> decide_at_random(std::uint64_t seed) {
    std::mt19937_64 chance(seed);
    constexpr int kDecisions = 20;
    for (int i = 0; i < kDecisions; ++i) {
      JOINTER_TRY(const std::vector<SaveCandidate> candidates, what_if.candidates(plan));
      if (candidates.empty()) break;
      const NodeId node = candidates[chance() % candidates.size()].node;
      if (auto changed = what_if.change(plan, {&node, 1}, static_cast<PlanAction>(chance() % 3)))
        plan = *std::move(changed);
    }
    return {};
  }

  Graph graph;
  PlanWhatIf what_if;
  SavePlan plan;
};

Result<void> run(const std::string& path, const std::string& out, const std::string& policy,
                 std::uint64_t seed) {
  JOINTER_TRY(const Graph joint, open_graph({.path = path}));
  PartitionOptions options;
  if (policy == "save") options.partitioner = Partitioner::default_partition;
  JOINTER_TRY(Partition found, partition(joint, options));
  Planning planning(std::move(found.joint));
  planning.plan = std::move(found.plan);
  if (policy == "recompute") {
    JOINTER_CHECK(planning.decide(1, PlanAction::recompute));
    JOINTER_CHECK(planning.save_borders());
  }
  if (policy == "offload") JOINTER_CHECK(planning.decide(2, PlanAction::offload));
  if (policy == "random") JOINTER_CHECK(planning.decide_at_random(seed));
  JOINTER_TRY(const PlanFigures figures, planning.what_if.figures(planning.plan));
  JOINTER_TRY(const Graph pair, emit_pair(planning.graph, planning.plan));
  JOINTER_CHECK(validate(pair));
  JOINTER_CHECK(write_bytes(out, write_native(pair)));
  fmt::print(R"({{"peak_bytes":{},"saved":{},"offloaded":{},"recomputed":{}}})"
             "\n",
             figures.figures.peak_bytes, planning.plan.saved.size(), planning.plan.offloaded.size(),
             figures.recomputed);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) {
    fmt::print(stderr, "plan_pairs JOINT OUT POLICY [SEED]\n");
    return EXIT_FAILURE;
  }
  const auto done =
      run(argv[1], argv[2], argv[3], argc == 5 ? std::strtoull(argv[4], nullptr, 10) : 0);
  if (!done) fmt::print(stderr, "{}\n", done.error().message);
  return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
