// Budgets on real joint graphs: prints one JSON object with, for each capture, in ms of CPU time of
// the main thread
//   budget_ms     one activation budget of 0.5, from the graph to the plan with its reasons
//   pareto_ms     the curve, with a sweep over up to 64 budgets; `points` counts its points
//   fastest_ms    the fastest plan found within the middle of the curve's peaks; `gain_ms` is the
//                 step time that it saves compared with the fastest point of the curve that fits
//   smallest_ms   the plan with the lowest peak found that is at most 3% slower than the fastest
//
//   budget_benchmark CAPTURE...

#include <fmt/core.h>

#include <string>

#include "core/cost/node_flops.h"
#include "core/open/open.h"
#include "core/partition/pareto.h"
#include "tests/benchmarks/timing.h"

namespace {

using namespace jointer;
using namespace jointer::benchmarks;

// Step time of the fastest point whose peak is within the limit.
std::int64_t best_budget(const std::vector<ParetoPoint>& curve, std::int64_t limit) {
  std::int64_t step = curve.front().figures.figures.step_ns;
  for (const ParetoPoint& point : curve)
    if (point.figures.figures.peak_bytes <= limit) step = point.figures.figures.step_ns;
  return step;
}

Result<std::string> measure(const std::string& path) {
  JOINTER_TRY(const Graph graph, open_graph({.path = path}));
  JOINTER_TRY(const Partition whole, partition(graph));
  JOINTER_TRY(const auto estimator, make_estimator({}));
  const std::vector<NodeCost> costs = estimate_all(whole.joint, *estimator);
  std::vector<Flops> flops(whole.joint.node_count());
  for (const NodeId id : whole.joint.order())
    flops[id.index()] = node_flops(whole.joint, whole.joint.node(id));
  const PlanWhatIf what_if(whole.joint, costs, flops);

  const double budget = milliseconds_of_processor(
      [&] { (void)partition(graph, {.activation_budget = 0.5}).value(); });
  std::vector<ParetoPoint> curve;
  const double sweep =
      milliseconds_of_processor([&] { curve = pareto(whole.joint, what_if, {})->points; });
  const std::int64_t limit =
      (curve.front().figures.figures.peak_bytes + curve.back().figures.figures.peak_bytes) / 2;
  Fit fast, small;
  const double fastest = milliseconds_of_processor(
      [&] { fast = fastest_within(whole.joint, what_if, limit, {}).value(); });
  const std::int64_t slower = curve.back().figures.figures.step_ns / 100 * 103;
  const double smallest = milliseconds_of_processor(
      [&] { small = smallest_within(whole.joint, what_if, slower, {}).value(); });
  const std::int64_t gain = best_budget(curve, limit) - fast.point.figures.figures.step_ns;
  return fmt::format(
      R"({{"nodes":{},"budget_ms":{:.1f},"pareto_ms":{:.1f},"points":{},"fastest_ms":{:.1f},)"
      R"("fits":{},"gain_ms":{:.2f},"smallest_ms":{:.1f}}})",
      graph.order().size(), budget, sweep, curve.size(), fastest, fast.fits && small.fits,
      static_cast<double>(gain) / 1e6, smallest);
}

}  // namespace

int main(int argc, char** argv) {
  fmt::print("{{");
  for (int i = 1; i < argc; ++i) {
    const auto measured = measure(argv[i]);
    if (!measured) {
      fmt::print(stderr, "budget_benchmark: {}\n", measured.error().message);
      return 1;
    }
    fmt::print("{}\"{}\":{}", i > 1 ? "," : "", argv[i], *measured);
  }
  fmt::print("}}\n");
  return 0;
}
