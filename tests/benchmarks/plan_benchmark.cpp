// Plans of real joint graphs: prints one JSON object with, for each capture, in ms of CPU time
//   nodes, candidates   their number
//   prepare_ms          the arrays that are computed once per graph
//   evaluate_*_ms       numbers and profile of torch's minimum cut; with everything recomputed that
//                       can be; with every second candidate offloaded
//   candidates_*_ms     the values that can be decided, for the first two
//   tick_*_ms           changing the decision on one candidate: the plan, its numbers and profile;
//                       median and maximum over candidates from the whole graph
//   memory_timeline_ms, simulation_ms   of the minimum cut's pair, which a tick avoids
//
//   plan_benchmark [--ticks N] CAPTURE...

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "core/open/open.h"
#include "core/partition/plan_what_if.h"
#include "tests/benchmarks/timing.h"

namespace {

using namespace jointer;
using namespace jointer::benchmarks;

double best_of(const auto& action) {
  constexpr int kRounds = 7;
  double best = milliseconds_of_processor(action);
  for (int i = 1; i < kRounds; ++i) best = std::min(best, milliseconds_of_processor(action));
  return best;
}

SavePlan decided(const PlanWhatIf& what_if, const SavePlan& plan, PlanAction action,
                 std::size_t every) {
  std::vector<NodeId> nodes;
  const std::vector<SaveCandidate> candidates = what_if.candidates(plan).value();
  for (std::size_t i = 0; i < candidates.size(); i += every) nodes.push_back(candidates[i].node);
  return what_if.change_all(plan, nodes, action).value().plan;
}

std::vector<double> ticks(const PlanWhatIf& what_if, const SavePlan& plan, std::size_t count) {
  const std::vector<SaveCandidate> candidates = what_if.candidates(plan).value();
  std::vector<double> times;
  const std::size_t every = std::max<std::size_t>(candidates.size() / count, 1);
  for (std::size_t i = 0; i < candidates.size(); i += every) {
    const SaveCandidate& c = candidates[i];
    const PlanAction other =
        c.action == PlanAction::recompute ? PlanAction::save : PlanAction::recompute;
    bool is_done = true;
    const double ms = milliseconds_of_processor([&] {
      const auto changed = what_if.change(plan, std::span(&c.node, 1), other);
      is_done = changed && what_if.evaluate(*changed);
    });
    if (is_done) times.push_back(ms);
  }
  std::sort(times.begin(), times.end());
  return times;
}

std::string figures(const Graph& graph, std::size_t tick_count) {
  const Partition found = partition(graph).value();
  const auto estimator = make_estimator({}).value();
  const std::vector<NodeCost> costs = estimate_all(found.joint, *estimator);
  std::vector<Flops> flops(found.joint.node_count());
  for (const NodeId id : found.joint.order())
    flops[id.index()] = node_flops(found.joint, found.joint.node(id));
  const PlanWhatIfOptions options{.transfers = estimator->transfer_costs()};
  const double prepare = best_of([&] {
    PlanWhatIf(found.joint, costs, flops, MemoryOptions{}, SimulationOptions{}, options);
  });
  const PlanWhatIf what_if(found.joint, costs, flops, {}, {}, options);
  const SavePlan& plan = found.plan;
  const SavePlan again = decided(what_if, plan, PlanAction::recompute, 1);
  const SavePlan offloaded = decided(what_if, plan, PlanAction::offload, 2);
  const auto evaluate = [&](const SavePlan& of) {
    return best_of([&] { (void)what_if.evaluate(of).value(); });
  };
  const auto candidates = [&](const SavePlan& of) {
    return best_of([&] { (void)what_if.candidates(of).value(); });
  };
  const std::vector<double> times = ticks(what_if, plan, tick_count);
  const Graph pair = emit_pair(found.joint, plan).value();
  const std::vector<NodeCost> pair_costs = estimate_all(pair, *estimator);
  return fmt::format(
      R"({{"nodes":{},"candidates":{},"prepare_ms":{:.3f},"evaluate_cut_ms":{:.3f},)"
      R"("evaluate_recompute_ms":{:.3f},"evaluate_offload_ms":{:.3f},"candidates_cut_ms":{:.3f},)"
      R"("candidates_recompute_ms":{:.3f},"ticks":{},"tick_median_ms":{:.3f},"tick_longest_ms":{:.3f},)"
      R"("memory_timeline_ms":{:.3f},"simulation_ms":{:.3f}}})",
      found.joint.order().size(), what_if.candidates(plan).value().size(), prepare, evaluate(plan),
      evaluate(again), evaluate(offloaded), candidates(plan), candidates(again), times.size(),
      times[times.size() / 2], times.back(), best_of([&] { MemoryTimeline timeline(pair); }),
      best_of([&] { Simulation simulation(pair, pair_costs); }));
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t tick_count = 50;
  std::vector<std::string> paths(argv + 1, argv + argc);
  if (paths.size() > 1 && paths.front() == "--ticks") {
    std::from_chars(paths[1].data(), paths[1].data() + paths[1].size(), tick_count);
    paths.erase(paths.begin(), paths.begin() + 2);
  }
  std::string all;
  for (const std::string& path : paths) {
    const auto graph = open_graph({.path = path});
    if (!graph) {
      fmt::print(stderr, "{}\n", graph.error().message);
      return 1;
    }
    all += fmt::format("{}\"{}\":{}", all.empty() ? "" : ",\n", path,
                       figures(*graph, std::max<std::size_t>(tick_count, 1)));
  }
  fmt::print("{{{}}}\n", all);
  return 0;
}
