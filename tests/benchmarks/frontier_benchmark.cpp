// The best plans of joint graphs, at ten peaks from the lowest found to that of the plan that saves
// most. Prints one JSON object with, for each capture and peak
//   limit_gib, peak_gib, step_ms   the limit, and the plan found
//   bound_ms, gap                  the lower bound for the limit; step / bound - 1
//   budget_ms                      the best of torch's activation budgets and solvers that fits
//   flips                          of `--flips` random changes of one decision: those that fit and
//                                  are faster, and the best gain
//   seconds                        time of the search, the first including the samples
//
//   frontier_benchmark [--flips N] [--effort N] [--no-offload] CAPTURE...

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <string>

#include "core/cost/node_flops.h"
#include "core/open/open.h"
#include "core/partition/budget_sweep.h"

namespace {

using namespace jointer;

struct Options {
  int flips = 0;
  std::size_t effort = PlanFrontier::kEffort;
  bool offload = true;
};

constexpr int kPeaks = 10;
constexpr double kGiB = 1 << 30;
constexpr double kMs = 1e6;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// All budgets, by all of torch's solvers.
Result<std::vector<ParetoPoint>> budgets(const Graph& joint, const PlanWhatIf& what_if) {
  std::vector<ParetoPoint> all;
  for (const KnapsackSolver solver :
       {KnapsackSolver::dp, KnapsackSolver::greedy, KnapsackSolver::knee_point}) {
    ParetoRequest request;
    request.partition.solver = solver;
    JOINTER_TRY(const auto sweep, BudgetSweep::make(joint, what_if, request));
    JOINTER_CHECK(sweep->run());
    all.insert(all.end(), sweep->points().begin(), sweep->points().end());
  }
  return all;
}

struct Flips {
  int better = 0;
  std::int64_t gain_ns = 0;
};
Flips flip(const PlanWhatIf& what_if, const TunedPlan& from, std::int64_t limit,
           const Options& options) {
  Flips found;
  const auto candidates = what_if.candidates(from.plan);
  if (!candidates || candidates->empty()) return found;
  std::mt19937_64 chance(4711);
  for (int i = 0; i < options.flips; ++i) {
    const NodeId node = (*candidates)[chance() % candidates->size()].node;
    const auto keep = static_cast<Keep>(chance() % (options.offload ? 3 : 2));
    const auto plan = what_if.change(from.plan, {&node, 1}, keep);
    if (!plan) continue;
    const auto figures = what_if.figures(*plan);
    if (!figures || figures->figures.peak_bytes > limit) continue;
    const std::int64_t gain = from.figures.figures.step_ns - figures->figures.step_ns;
    if (gain <= 0) continue;
    ++found.better;
    found.gain_ns = std::max(found.gain_ns, gain);
  }
  return found;
}

Result<std::string> measure(const std::string& path, const Options& options) {
  JOINTER_TRY(const Graph graph, open_graph({.path = path}));
  JOINTER_TRY(const Partition whole, partition(graph));
  JOINTER_TRY(const auto estimator, make_estimator({}));
  const std::vector<NodeCost> costs = estimate_all(whole.joint, *estimator);
  std::vector<Flops> flops(whole.joint.node_count());
  for (const NodeId id : whole.joint.order())
    flops[id.index()] = node_flops(whole.joint, whole.joint.node(id));
  const PlanWhatIf what_if(whole.joint, costs, flops, {}, {},
                           {.transfers = estimator->transfer_costs()});
  JOINTER_TRY(const std::vector<ParetoPoint> swept, budgets(whole.joint, what_if));
  auto start = std::chrono::steady_clock::now();
  JOINTER_TRY(const auto frontier,
              PlanFrontier::make(whole.joint, what_if,
                                 {.offload = options.offload, .effort = options.effort}));
  for (const ParetoPoint& point : swept) frontier->add({point.plan, point.figures});
  JOINTER_TRY(const TunedPlan smallest, frontier->best(PlanLimit::of_peak(0)));
  const double first_seconds = seconds_since(start);
  const std::int64_t low = smallest.figures.figures.peak_bytes;
  std::int64_t high = low;
  for (const ParetoPoint& point : swept) high = std::max(high, point.figures.figures.peak_bytes);
  std::string rows;
  for (int i = 0; i < kPeaks; ++i) {
    const std::int64_t limit = low + (high - low) * i / (kPeaks - 1);
    start = std::chrono::steady_clock::now();
    JOINTER_TRY(const TunedPlan best, frontier->best(PlanLimit::of_peak(limit)));
    const double seconds = seconds_since(start);
    std::optional<std::int64_t> budget;
    for (const ParetoPoint& point : swept)
      if (const Figures& f = point.figures.figures; f.peak_bytes <= limit)
        budget = std::min(budget.value_or(f.step_ns), f.step_ns);
    const Flips flips = flip(what_if, best, limit, options);
    const auto step = static_cast<double>(best.figures.figures.step_ns);
    const auto bound = static_cast<double>(frontier->bound_ns(limit));
    rows += fmt::format(
        R"({}{{"limit_gib":{:.2f},"peak_gib":{:.2f},"step_ms":{:.3f},"bound_ms":{:.3f},)"
        R"("gap":{:.4f},"budget_ms":{},"offloaded_gib":{:.2f},"flips":[{},{:.4f}],)"
        R"("seconds":{:.2f}}})",
        i > 0 ? ",\n  " : "", static_cast<double>(limit) / kGiB,
        static_cast<double>(best.figures.figures.peak_bytes) / kGiB, step / kMs, bound / kMs,
        bound > 0 ? step / bound - 1 : 0.0,
        budget ? fmt::format("{:.3f}", static_cast<double>(*budget) / kMs) : "null",
        static_cast<double>(best.figures.offloaded_bytes) / kGiB, flips.better,
        static_cast<double>(flips.gain_ns) / step, seconds);
  }
  return fmt::format("{{\"nodes\":{},\"first_seconds\":{:.2f},\"peaks\":[\n  {}]}}",
                     graph.order().size(), first_seconds, rows);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  bool is_first = true;
  fmt::print("{{");
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    if (text == "--flips" && i + 1 < argc) {
      options.flips = std::stoi(argv[++i]);
    } else if (text == "--effort" && i + 1 < argc) {
      options.effort = static_cast<std::size_t>(std::stoi(argv[++i]));
    } else if (text == "--no-offload") {
      options.offload = false;
    } else {
      const auto measured = measure(text, options);
      if (!measured) {
        fmt::print(stderr, "frontier_benchmark: {}\n", measured.error().message);
        return 1;
      }
      fmt::print("{}\"{}\":{}", std::exchange(is_first, false) ? "" : ",\n", text, *measured);
    }
  }
  fmt::print("}}\n");
  return 0;
}
