// Splits each module that exchanges tokens into two halves, along the batch or the sequence, so
// that ep_overlap_schedule can overlap one half's compute with the other half's exchange.
//
// Steps. Find the modules that match the pattern and contain an all-to-all; if there are none,
// those annotated as expert-parallel, unless require_all_to_all is set. Split their forward, then
// their backward: choose the nodes to duplicate (chunk_plan.h) and write both halves
// (chunk_lowering.h). Values that leave the forward as halves enter the backward as halves. Copies
// get the same marks in `custom` as from eager chunking: chunked_region_fqn, _role, _is_backward,
// _producer, and chunk_id. Cost: modules times nodes.
//
// Source: torchtitan 0.3.0, experiments/graph_trainer/ep_chunk_pass.py. Deviations:
//  - A size that a view of a whole gradient reads is placed directly before the view. Upstream
//    places it after the view, and its own check then refuses the graph.
//  - Copies share storages and are conjugated like the originals, and splits have values that
//    describe their results.
//  - Sizes that are not sums of multiples of symbols are refused.
//  - Parameters and buffers are recognized by their role, not by their position.
//  - New unbacked symbols have no range.
//  - A graph without such modules or without chunk symbols stays unchanged unless
//    require_all_to_all is set.

#include <fmt/core.h>

#include "core/base/counted.h"
#include "passes/ep_overlap/chunk_lowering.h"
#include "passes/ep_overlap/chunk_regions.h"
#include "passes/ep_overlap/ep_overlap.h"
#include "passes/support/parameters.h"

namespace jointer {
namespace {

struct Made {
  NodeId node;
  std::string action, reason;
};

Result<void> run_ep_overlap_chunk(Graph& graph, const Arguments& arguments, PassContext& context) {
  if (graph.is_pair())
    return fail(Error::Kind::usage,
                "graph chunking requires a flat training step, not a forward/backward pair");
  const PartId part(0);
  const ChunkMode mode = arguments.text("mode") == "seq" ? ChunkMode::seq : ChunkMode::batch;
  const std::string& pattern = arguments.text("module_pattern");
  Annotations marks(graph);
  JOINTER_TRY(ChunkHints hints, find_chunk_hints(graph, part, marks, mode));
  ChunkProgram program(graph, part, std::move(hints));
  const bool by_annotation = !arguments.boolean("require_all_to_all");
  const auto roots = find_expert_roots(program, pattern, by_annotation);
  if (roots.empty() || program.sizes.hints().empty()) {
    JOINTER_CHECK(check_module_pattern(program, pattern));
    if (!by_annotation)
      return fail(
          Error::Kind::usage,
          "no module that matches {} exchanges tokens along a dimension that can be split in two{}",
          pattern,
          roots.empty() ? ": none contains an all_to_all_single"
                        : "; trace the step with --compile.ep_overlap.enabled");
    context.decide("kept", fmt::format("No module that matches {} exchanges tokens along a "
                                       "dimension that can be split in two.",
                                       pattern));
    return context.report(1);
  }
  std::vector<Made> made;
  const ChunkLoweringOptions options{
      .mode = mode,
      .early_joins = arguments.boolean("optimize_grad_live_out"),
      .decide = [&](NodeId id, std::string_view action, std::string reason) {
        made.push_back({id, std::string(action), std::move(reason)});
      }};
  ChunkPairs pairs;
  std::size_t count = 0;
  for (const bool is_backward : {false, true}) {
    JOINTER_CHECK(context.report(is_backward ? 0.5 : 0));
    std::vector<bool> per_chunk(pairs.per_chunk.size());
    for (std::size_t i = 0; i < per_chunk.size(); ++i)
      per_chunk[i] = static_cast<bool>(pairs.per_chunk[i][0]);
    JOINTER_TRY(const std::vector<ChunkPlan> plans, plan_chunks(program, roots, per_chunk));
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (plans[i].root.is_backward != is_backward) continue;
      JOINTER_CHECK(lower_chunks(program, plans, i, options, pairs));
      ++count;
    }
  }
  if (count == 0)
    return fail(Error::Kind::usage,
                "nothing in the modules that match {} depends on a size that can be split; set "
                "another mode or module_pattern, or trace the step again with "
                "--compile.ep_overlap.enabled",
                pattern);
  JOINTER_CHECK(program.finish());
  for (Made& each : made)
    if (graph.is_live(each.node))
      context.decide(graph, each.node, std::move(each.action), std::move(each.reason));
  context.decide("chunked", fmt::format("Split {} in two along the {}.",
                                        counted(count, "forward or backward module body",
                                                "forward and backward module bodies"),
                                        mode == ChunkMode::seq ? "sequence" : "batch"));
  return context.report(1);
}

}  // namespace

Pass ep_overlap_chunk_pass() {
  return {
      .info =
          {.name = "ep_overlap_chunk",
           .summary = "Splits MoE modules in two along the batch or the sequence, so that one "
                      "half exchanges tokens while the other computes.",
           .source = "torchtitan/experiments/graph_trainer/ep_chunk_pass.py",
           .stage = PassStage::joint,
           .parameters =
               {choice("mode", {"batch", "seq"}, "batch", "Dimension to split in two."),
                text(
                    "module_pattern", std::string(kMoeModules),
                    "Modules to split: layers.*.moe or layers.*; * stands for one path component."),
                flag("optimize_grad_live_out", true,
                     "In the backward, join both halves of a result before the final views and "
                     "collectives that compute it, so that these run only once."),
                flag("require_all_to_all", false,
                     "Fail if no such module contains an all-to-all; if false, split modules "
                     "annotated as expert-parallel instead.")},
           .keeps_numerics = false},
      .run = run_ep_overlap_chunk};
}

}  // namespace jointer
