// Checks the plans that `jointer sac --budget` finds for joint graphs and flat training steps: at
// ten limits, or `--peaks`, from the lowest peak found to that of the plan without a limit or, if
// that is not higher, of the budget or preset that needs most. Each answer is a separate search, as
// on the command line. It fails if
//   - no plan found fits the limit;
//   - one of torch's activation budgets, by any solver, or one of upstream's presets fits the limit
//     and is faster;
//   - one of `--flips` random changes of one decision, as far as tags allow them, fits the limit
//     and is faster;
//   - a higher limit gives a longer step;
//   - the lower bound is above the step found for a lower limit;
//   - with --tune, auto_tune is faster in ten times the time, without additional process groups.
// Each answer is a plan and an order of its collectives; with --keep-order, a plan alone.
// For each capture, it prints a line for each limit
//   limit, peak, step   in GiB and ms; the plan found
//   bound, gap          the lower bound for the limit; step / bound - 1. With orders, the bound
//                       leaves out communication
//   rival               the fastest budget or preset that fits. torch has no partitioner for flat
//                       training steps: their budgets are Jointer's (step_budget.cpp), solved by
//                       torch's solvers, and marked with "*"
//   flips               the changes that fit and are faster, and the best gain. With orders, the
//                       order of `--ordered-flips` of them is searched, too, those with the
//                       shortest steps before
//   tuned               with --tune: the step of auto_tune
//   seconds, CPU        of the search: elapsed, and processor time of all threads
// and then what failed. The exit code is 1 if anything did.
//
//   frontier_benchmark [--flips N] [--ordered-flips N] [--peaks N] [--effort N] [--no-offload]
//                      [--keep-order] [--tune] CAPTURE...

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>
#include <optional>
#include <random>
#include <string>

#include "core/base/counted.h"
#include "core/cost/node_flops.h"
#include "core/open/open.h"
#include "core/partition/budget_sweep.h"
#include "core/policy/ordered_search.h"
#include "core/policy/point_of_step.h"
#include "core/policy/trade_off.h"
#include "core/policy/with_fsdp.h"
#include "passes/built_in.h"
#include "passes/support/communicates.h"
#include "passes/tune/find_order.h"
#include "passes/tune/tuner.h"

namespace {

using namespace jointer;

struct Options {
  int flips = 1000, peaks = 10;
  std::size_t ordered_flips = 20;
  std::size_t effort = PlanFrontier::kEffort;
  bool offload = true, tune = false, keep_order = false;
};

constexpr double kGiB = 1 << 30;
constexpr double kMs = 1e6;
constexpr double kTunedLonger = 10;  // auto_tune's time, relative to that of a search

struct Rival {
  std::string name;
  Figures figures;
  bool is_of_torch = true;  // false for the budgets of a flat training step
};

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  // The sum over all threads.
  [[nodiscard]] double processor_seconds() const {
    return static_cast<double>(std::clock() - processor_start_) / CLOCKS_PER_SEC;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::clock_t processor_start_ = std::clock();
};

double gib(std::int64_t bytes) {
  return static_cast<double>(bytes) / kGiB;
}
double ms(std::int64_t ns) {
  return static_cast<double>(ns) / kMs;
}

// As on the command line, estimates are for an H100 or, for a graph captured on a CPU, for a CPU.
const AnalysisOptions kAnalysis{.estimator = {.device = {}}};

// A graph and its estimates.
struct Asked {
  Graph graph;
  MemoryPolicy fsdp = MemoryPolicy::none;
  std::vector<NodeCost> costs;
  std::vector<Flops> flops;
  TransferCosts transfers;
  ParetoPoint now;  // the plan without a limit

  static Result<Asked> of(const std::string& path) {
    Asked asked;
    JOINTER_TRY(asked.graph, open_graph({.path = path}));
    asked.fsdp = fsdp_policy(asked.graph);
    JOINTER_TRY(const auto estimator, estimator_for(asked.graph, kAnalysis));
    asked.transfers = estimator->transfer_costs();
    if (asked.is_flat()) {
      asked.estimate(asked.graph, *estimator);
      JOINTER_TRY(asked.now, point_of_step(asked.graph, kNow, *estimator, {}));
      return asked;
    }
    JOINTER_TRY(Partition whole, partition(asked.graph));
    asked.estimate(whole.joint, *estimator);
    const PlanWhatIf what_if(whole.joint, asked.costs, asked.flops, {}, {},
                             {.transfers = asked.transfers});
    JOINTER_TRY(const PlanFigures figures, what_if.figures(whole.plan));
    asked.now = {.budget = -1, .name = kNow, .plan = std::move(whole.plan), .figures = figures};
    return asked;
  }

  [[nodiscard]] bool is_flat() const {
    return !graph.is_pair() && graph.part(PartId(0)).kind == CaptureKind::train_step;
  }

  [[nodiscard]] Result<std::unique_ptr<TradeOff>> trade_off(const Options& options) const {
    TradeOffOptions asked;
    asked.now = now;
    asked.fsdp = fsdp;
    asked.offload = options.offload;
    asked.effort = options.effort;
    return TradeOff::make(
        graph,
        {.costs = costs, .flops = flops, .memory = {}, .simulation = {}, .transfers = transfers},
        std::move(asked));
  }

 private:
  static constexpr const char* kNow = "now";

  void estimate(const Graph& searched, const Estimator& estimator) {
    costs = estimate_all(searched, estimator);
    flops = flops_of(searched);
  }
};

// All budgets by all of torch's solvers, and the presets that the search may use.
Result<std::vector<Rival>> rivals_of(const Asked& asked, const TradeOff& trade_off,
                                     const Options& options) {
  std::vector<Rival> rivals;
  for (const auto& [name, solver] : kKnapsackSolvers) {
    ParetoRequest request;
    request.partition.solver = solver;
    JOINTER_TRY(const auto sweep,
                BudgetSweep::make(trade_off.partition().joint, trade_off.what_if(), request));
    JOINTER_CHECK(sweep->run());
    for (const ParetoPoint& point : sweep->points())
      rivals.push_back({.name = fmt::format("{} {:.4g}", name, point.budget),
                        .figures = point.figures.figures,
                        .is_of_torch = !asked.is_flat()});
  }
  for (const ParetoPoint& preset : trade_off.presets()) {
    if (!options.offload &&
        !offloads_only_on_demand(preset.plan, trade_off.partition().joint, trade_off.policies()))
      continue;
    rivals.push_back({.name = preset.name, .figures = preset.figures.figures});
  }
  return rivals;
}

// The answer to a limit of the peak.
Result<Fit> answer(const TradeOff& trade_off, std::int64_t limit, const Options& options) {
  if (options.keep_order || !communicates(trade_off.partition().joint))
    return trade_off.fastest_within(limit);
  return fastest_ordered(trade_off, limit, order_finder(built_in_passes(), kAnalysis));
}

// The step of the fastest rival that fits; none if there is no rival.
std::string rival_text(const Rival* rival) {
  if (rival == nullptr) return "none";
  return fmt::format("{:.3f}{}", ms(rival->figures.step_ns), rival->is_of_torch ? "" : "*");
}

struct Flips {
  int better = 0;
  std::int64_t gain_ns = 0;
};
Result<Flips> flip(const TradeOff& trade_off, const ParetoPoint& from, std::int64_t limit,
                   const Options& options) {
  const Graph& joint = trade_off.partition().joint;
  const PlanWhatIf& what_if = trade_off.what_if();
  JOINTER_TRY(const auto candidates, what_if.candidates(from.plan));
  Flips found;
  if (candidates.empty()) return found;
  const auto count = [&](const Figures& figures) {
    const std::int64_t gain = from.figures.figures.step_ns - figures.step_ns;
    if (figures.peak_bytes > limit || gain <= 0) return;
    ++found.better;
    found.gain_ns = std::max(found.gain_ns, gain);
  };
  std::vector<EvaluatedPlan> changed;
  std::mt19937_64 chance(4711);
  for (int i = 0; i < options.flips; ++i) {
    const NodeId node = candidates[chance() % candidates.size()].node;
    if (joint.node(node).policy == MemoryPolicy::must_recompute) continue;
    const auto action = static_cast<PlanAction>(chance() % (options.offload ? 3 : 2));
    auto plan = what_if.change(from.plan, {&node, 1}, action);
    if (!plan) continue;
    const auto figures = what_if.figures(*plan);
    if (!figures || figures->figures.peak_bytes > limit) continue;
    changed.push_back({*std::move(plan), *figures});
  }
  std::ranges::stable_sort(changed, {},
                           [](const EvaluatedPlan& each) { return each.figures.figures.step_ns; });
  const FindOrder find_order = order_finder(built_in_passes(), kAnalysis);
  for (std::size_t i = 0; i < changed.size(); ++i) {
    if (from.order.empty() || i >= options.ordered_flips) {
      count(changed[i].figures.figures);
      continue;
    }
    JOINTER_TRY(const Graph graph, trade_off.graph_of(changed[i].plan));
    JOINTER_TRY(const PlanOrder order, find_order(graph, {.bytes = limit}));
    count(order.figures);
  }
  return found;
}

// The step of auto_tune's best pipeline within the limit; nullopt if it finds none.
Result<std::optional<std::int64_t>> tuned(const Graph& graph, std::int64_t limit, double seconds) {
  TuneOptions options;
  options.context.analysis = kAnalysis;
  options.evaluations = std::numeric_limits<std::size_t>::max();
  options.seconds = seconds;
  options.budget = limit;
  options.twin_groups = false;
  JOINTER_TRY(const TuneResult result, tune(graph, built_in_passes(), options));
  if (!result.winner) return std::optional<std::int64_t>();
  return std::optional(result.winner->figures.figures.step_ns);
}

// Prints the table of one capture. Returns what failed.
Result<std::vector<std::string>> measure(const std::string& path, const Options& options) {
  JOINTER_TRY(const Asked asked, Asked::of(path));
  JOINTER_TRY(const auto trade_off, asked.trade_off(options));
  JOINTER_TRY(const std::vector<Rival> rivals, rivals_of(asked, *trade_off, options));
  JOINTER_TRY(const Fit smallest, trade_off->fastest_within(0));
  const std::int64_t low = smallest.point.figures.figures.peak_bytes;
  std::int64_t high = asked.now.figures.figures.peak_bytes;
  if (high <= low)
    for (const Rival& rival : rivals) high = std::max(high, rival.figures.peak_bytes);
  fmt::print("{}: {}, now {:.2f} GiB, {:.3f} ms\n", path,
             counted(asked.graph.order().size(), "node"), gib(asked.now.figures.figures.peak_bytes),
             ms(asked.now.figures.figures.step_ns));
  fmt::print("{:>9} {:>9} {:>11} {:>11} {:>8} {:>11} {:>14} {}{:>8} {:>6}\n", "limit", "peak",
             "step", "bound", "gap", "rival", "flips", options.tune ? "      tuned " : "",
             "seconds", "CPU");
  std::vector<std::string> failures;
  std::int64_t last_step = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < options.peaks; ++i) {
    const std::int64_t limit = low + (high - low) * i / std::max(options.peaks - 1, 1);
    const auto fail_at = [&](const std::string& what) {
      failures.push_back(fmt::format("{} at {:.2f} GiB: {}", path, gib(limit), what));
    };
    const Stopwatch watch;
    JOINTER_TRY(const auto searched, asked.trade_off(options));
    JOINTER_TRY(const Fit fit, answer(*searched, limit, options));
    const double seconds = watch.seconds(), processor_seconds = watch.processor_seconds();
    const Figures& found = fit.point.figures.figures;
    if (!fit.fits) fail_at("no plan fits");
    if (found.step_ns > last_step)
      fail_at(
          fmt::format("{:.3f} ms longer than at the limit before", ms(found.step_ns - last_step)));
    if (fit.bound_ns > last_step)
      fail_at(fmt::format("the bound is {:.3f} ms above the step at the limit before",
                          ms(fit.bound_ns - last_step)));
    last_step = found.step_ns;
    const Rival* rival = nullptr;
    for (const Rival& each : rivals)
      if (each.figures.peak_bytes <= limit &&
          (rival == nullptr || each.figures.step_ns < rival->figures.step_ns))
        rival = &each;
    if (rival != nullptr && rival->figures.step_ns < found.step_ns)
      fail_at(fmt::format("{} takes only {:.3f} ms", rival->name, ms(rival->figures.step_ns)));
    JOINTER_TRY(const Flips flips, flip(*searched, fit.point, limit, options));
    const double gain = static_cast<double>(flips.gain_ns) / static_cast<double>(found.step_ns);
    if (flips.better > 0)
      fail_at(fmt::format("{} of {} changes are faster, by up to {:.4f}%", flips.better,
                          options.flips, 100 * gain));
    std::string tuned_text;
    if (options.tune) {
      JOINTER_TRY(const auto step, tuned(asked.graph, limit, kTunedLonger * seconds));
      tuned_text = fmt::format("{:>11} ", step ? fmt::format("{:.3f}", ms(*step)) : "none");
      if (step && *step < found.step_ns)
        fail_at(fmt::format("auto_tune takes only {:.3f} ms", ms(*step)));
    }
    const double bound = ms(fit.bound_ns);
    fmt::print(
        "{:>9.2f} {:>9.2f} {:>11.3f} {:>11.3f} {:>7.2f}% {:>11} {:>5} {:>7.4f}% {}{:>8.2f} "
        "{:>6.2f}\n",
        gib(limit), gib(found.peak_bytes), ms(found.step_ns), bound,
        bound > 0 ? 100 * (ms(found.step_ns) / bound - 1) : 0.0, rival_text(rival), flips.better,
        100 * gain, tuned_text, seconds, processor_seconds);
    std::fflush(stdout);
  }
  return failures;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::vector<std::string> failures;
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    const bool has_value = i + 1 < argc;
    if (text == "--flips" && has_value) {
      options.flips = std::stoi(argv[++i]);
    } else if (text == "--peaks" && has_value) {
      options.peaks = std::stoi(argv[++i]);
    } else if (text == "--effort" && has_value) {
      options.effort = static_cast<std::size_t>(std::stoi(argv[++i]));
    } else if (text == "--ordered-flips" && has_value) {
      options.ordered_flips = static_cast<std::size_t>(std::stoi(argv[++i]));
    } else if (text == "--keep-order") {
      options.keep_order = true;
    } else if (text == "--no-offload") {
      options.offload = false;
    } else if (text == "--tune") {
      options.tune = true;
    } else {
      auto failed = measure(text, options);
      if (!failed) {
        fmt::print(stderr, "frontier_benchmark: {}: {}\n", text, failed.error().message);
        return 2;
      }
      failures.insert(failures.end(), failed->begin(), failed->end());
    }
  }
  for (const std::string& failure : failures) fmt::print("failed: {}\n", failure);
  return failures.empty() ? 0 : 1;
}
