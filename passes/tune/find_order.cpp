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
// The memory limit only selects among results. It is not passed to the passes, so a pipeline has
// the same effect if it is run separately.
//
// Cost: one run of each pipeline, with one thread per pipeline; in total, 0.6 s of CPU time on
// Llama3-8B. On graphs with more than 30,000 nodes, pipelines with passes that would take minutes
// are left out; the others take 4 s of CPU time on DeepSeek-V3 671B (55,000 nodes).
//
// Source: Jointer's own.

#include "passes/tune/find_order.h"

#include <array>
#include <future>
#include <string_view>
#include <utility>
#include <vector>

#include "core/pass/pipeline_run.h"
#include "core/pass/pipeline_text.h"
#include "core/schedule/caching_allocator.h"
#include "passes/tune/evaluator.h"

namespace jointer {
namespace {

struct Order {
  std::string_view passes;
  bool scales = true;  // also tried on graphs with more than kLarge nodes
  bool has_twins = false;
};

constexpr std::array<Order, 6> kOrders{{
    {.passes = "place_collectives"},
    {.passes = "reorder_communication_preserving_peak_memory,place_collectives", .scales = false},
    {.passes = "autobucketing_reordering,place_collectives", .scales = false},
    {.passes = "transformer_block_bucketing,place_collectives"},
    {.passes = "reassign_to_pg,place_collectives", .has_twins = true},
    {.passes = "reassign_to_pg,transformer_block_bucketing,place_collectives", .has_twins = true},
}};

constexpr std::size_t kLarge = 30'000;

Result<GroupTimesByName> communication_of(const Graph& graph, const AnalysisOptions& analysis) {
  JOINTER_TRY(const auto estimator, make_estimator(analysis.estimator, graph.main_device()));
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
    std::vector<Pipeline> pipelines;
    for (const auto& [passes, scales, has_twins] : kOrders)
      if ((scales || graph.order().size() <= kLarge) && (wanted.twin_groups || !has_twins))
        pipelines.push_back(*parse_pipeline(passes));
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
      JOINTER_TRY(best.communication, communication_of(best_graph ? *best_graph : graph, analysis));
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
