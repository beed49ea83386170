// Tries a few pipelines of bucketing and reordering passes on the graph of a plan, and chooses the
// one with the shortest step time among those within the memory limit. If none of these shortens
// the step, the graph keeps its order.
//
// Every pipeline ends with place_collectives, which judges moves by the step time. Before that,
// upstream's passes may bucket collectives or reorder them according to their own estimates; on
// some graphs, this gives a better starting point. auto_tune searches many more pipelines.
//
// Twin groups. With the option `twin_groups`, pipelines are also tried that first move FSDP's
// all-gathers to a twin of their process group (reassign_to_pg), so that they overlap with the
// reduce-scatters. auto_tune allows this by default, and a search for a plan does not. This is
// because auto_tune returns a pipeline, in which reassign_to_pg is a visible pipeline step that can
// be removed, whereas a search for a plan has to keep a peak. No estimate counts the memory that
// the communicator of another group takes on the device, and every rank has to create the group
// before the pair runs.
//
// Room. Starting communication earlier takes memory. If the first pass of a pipeline limits the
// growth of the peak, it gets the room between the graph's peak and the limit as a parameter, so
// the pipeline has the same effect if it is run separately. For a limit on reserved memory, the
// allowed growth of the peak is that of reserved bytes, as a fraction. A result that nevertheless
// exceeds the limit is refused.
//
// Cost: one run of each pipeline, with one thread per pipeline; in total, 0.6 s of CPU time on
// Llama3-8B. On graphs with more than 30,000 nodes, pipelines with passes that would take minutes
// are left out; the others take 4 s of CPU time on DeepSeek-V3 671B (55,000 nodes).
//
// Source: Jointer's own.

#include "passes/tune/find_order.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <future>
#include <string_view>
#include <utility>
#include <vector>

#include "core/pass/pipeline_run.h"
#include "core/pass/pipeline_text.h"
#include "core/schedule/caching_allocator.h"
#include "passes/tune/evaluator.h"
#include "passes/tune/knobs.h"

namespace jointer {
namespace {

struct Order {
  std::string_view passes;
  bool scales = true;  // also tried on graphs with more than kLarge nodes
  bool has_twins = false;
  bool is_slow = false;          // takes most of the time of all pipelines together
  std::string_view growth = {};  // parameter of the first pass: allowed growth of the peak
};

constexpr std::array<Order, 7> kOrders{{
    {.passes = "place_collectives"},
    {.passes = "place_collectives", .growth = "peak_memory_budget"},
    {.passes = "reorder_communication_preserving_peak_memory,place_collectives",
     .scales = false,
     .growth = "reorder_iterative_peak_memory_budget"},
    {.passes = "autobucketing_reordering{max_memory_increase_gb=0},place_collectives",
     .scales = false,
     .is_slow = true,
     .growth = "max_memory_increase_ratio"},
    {.passes = "transformer_block_bucketing,place_collectives"},
    {.passes = "reassign_to_pg,place_collectives", .has_twins = true},
    {.passes = "reassign_to_pg,transformer_block_bucketing,place_collectives", .has_twins = true},
}};

constexpr std::size_t kLarge = 30'000;

// The growth from `bytes` that a limit allows, as a fraction. More growth than the maximum rarely
// hides more communication.
double growth_within(std::int64_t limit_bytes, std::int64_t bytes) {
  constexpr double kMaxGrowth = 0.2, kSteps = 1000;
  if (bytes <= 0) return 0;
  const auto own = static_cast<double>(bytes);
  const double growth = (static_cast<double>(limit_bytes) - own) / own;
  return std::floor(std::clamp(growth, 0.0, kMaxGrowth) * kSteps) / kSteps;
}

Result<GroupTimesByName> communication_of(const Graph& graph, const AnalysisOptions& analysis) {
  JOINTER_TRY(const auto estimator, estimator_for(graph, analysis));
  return group_times(graph,
                     Simulation(graph, estimate_all(graph, *estimator), analysis.simulation));
}

}  // namespace

FindOrder order_finder(PassRegistry registry, AnalysisOptions analysis,
                       OrderFinderOptions options) {
  return [analysis = std::move(analysis), wanted = std::move(options),
          registry = std::move(registry)](const Graph& graph,
                                          const OrderLimit& limit) -> Result<PlanOrder> {
    JOINTER_TRY(const StepFigures own, step_figures(graph, analysis));
    PlanOrder best{.passes = {}, .figures = own.figures, .communication = {}};
    const bool counts_reserved = limit.memory == LimitedMemory::reserved;
    Evaluator::Options judged;
    judged.context.analysis = analysis;
    judged.context.is_cancelled = wanted.is_cancelled;
    JOINTER_TRY(const auto evaluator, Evaluator::make(graph, registry, std::move(judged)));
    std::shared_ptr<const Graph> best_graph;
    std::int64_t refused_bytes = 0, refused_ns = 0;  // of the fastest order beyond the limit
    const std::int64_t own_bytes =
        counts_reserved ? reserved_peak_bytes(graph, analysis.memory) : own.figures.peak_bytes;
    const double growth = growth_within(limit.bytes, own_bytes);
    std::vector<Pipeline> pipelines;
    for (const Order& order : kOrders) {
      if (!order.scales && graph.order().size() > kLarge) continue;
      if (order.has_twins && !wanted.twin_groups) continue;
      if (order.is_slow && limit.wants_communication) continue;
      Pipeline pipeline = *parse_pipeline(order.passes);
      if (!order.growth.empty()) {
        PipelineStep& first = pipeline.front();
        first = with_value(first, *registry.find(first.pass), order.growth, growth);
      }
      if (std::ranges::find(pipelines, pipeline) == pipelines.end())
        pipelines.push_back(std::move(pipeline));
    }
    std::vector<std::future<Result<Evaluation>>> evaluations;
    for (const Pipeline& pipeline : pipelines)
      evaluations.push_back(std::async(std::launch::async, [&evaluator = *evaluator, &pipeline] {
        return evaluator.evaluate(pipeline);
      }));
    for (std::size_t i = 0; i < pipelines.size(); ++i) {
      JOINTER_TRY(const Evaluation evaluation, evaluations[i].get());
      const Figures& figures = evaluation.figures.figures;
      if (evaluation.failure || figures.step_ns >= best.figures.step_ns) continue;
      JOINTER_TRY(const auto ordered, evaluator->graph_of(pipelines[i]));
      const std::int64_t reserved = reserved_peak_bytes(*ordered, analysis.memory);
      const std::int64_t bytes = counts_reserved ? reserved : figures.peak_bytes;
      if (bytes > limit.bytes) {
        if (refused_bytes == 0 || figures.step_ns < refused_ns) {
          refused_bytes = bytes;
          refused_ns = figures.step_ns;
        }
        continue;
      }
      best = {.passes = to_text(pipelines[i]),
              .figures = figures,
              .communication = {},
              .reserved_bytes = reserved};
      best_graph = ordered;
    }
    if (refused_bytes > 0 && refused_ns < best.figures.step_ns) best.refused_bytes = refused_bytes;
    if (limit.wants_communication) {
      JOINTER_TRY(const auto times, communication_of(best_graph ? *best_graph : graph, analysis));
      best.communication = in_groups_of(graph, times);
    }
    return best;
  };
}

Result<Graph> in_order(const Graph& graph, const std::string& passes, const PassRegistry& registry,
                       const AnalysisOptions& analysis) {
  if (passes.empty()) return graph;
  JOINTER_TRY(const Pipeline pipeline, parse_pipeline(passes));
  PassContext::Options options;
  options.analysis = analysis;
  JOINTER_TRY(const PipelineRun run, run_whole_pipeline(graph, pipeline, registry, options));
  return *run.steps.back().graph;
}

}  // namespace jointer
