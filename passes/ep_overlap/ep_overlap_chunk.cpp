// Cuts modules that exchange tokens in two along the batch or the sequence, so that
// ep_overlap_schedule can run one half's compute beside the other's exchange.
//
// Steps. Modules of the pattern with an all-to-all. First their forward, then, anew, their
// backward: which nodes are made twice (chunk_plan.h), and their halves (chunk_lowering.h). Values
// that come out of the forward in halves go into the backward as halves. Copies are marked in
// `custom` as eager chunking marks them: chunked_region_fqn, _role, _is_backward, _producer, and
// chunk_id. Cost: modules times nodes.
//
// Source: torchtitan 0.3.0, experiments/graph_trainer/ep_chunk_pass.py. Deviations: sizes that a
// view of a whole gradient reads stand right before it (upstream puts them behind it, and its own
// check refuses the graph); copies share storages and are conjugates as the originals were, and
// splits say what they return; sizes that are more than sums of multiples of symbols are refused;
// parameters and buffers are told by their role and not by their number; new unbacked symbols have
// no range;
// a graph with nothing to cut stays as it is, unless require_all_to_all is set.

#include "passes/ep_overlap/ep_overlap_chunk.h"

#include <fmt/format.h>

#include "passes/ep_overlap/chunk_lowering.h"
#include "passes/parameters.h"

namespace jointer {
namespace {

struct Made {
  NodeId node;
  std::string action, reason;
};

Result<void> run(Graph& graph, const Arguments& arguments, PassContext& context) {
  if (graph.is_pair())
    return fail(Error::Kind::usage,
                "graph chunking takes a traced step, not a forward and a backward");
  const PartId part(0);
  const ChunkMode mode = arguments.text("mode") == "seq" ? ChunkMode::seq : ChunkMode::batch;
  const std::string& pattern = arguments.text("module_pattern");
  NodeMarks marks(graph);
  JOINTER_TRY(ChunkHints hints, find_chunk_hints(graph, part, marks, mode));
  ChunkProgram program(graph, part, std::move(hints));
  const bool by_annotation = !arguments.boolean("require_all_to_all");
  const auto roots = find_expert_roots(program, pattern, by_annotation);
  if (roots.empty() || program.sizes.hints().empty()) {
    if (!by_annotation)
      return fail(Error::Kind::usage,
                  "no module of {} exchanges tokens of a size that can be cut{}", pattern,
                  roots.empty() ? ": there is no all_to_all_single in them" : "");
    context.decide(
        "kept",
        fmt::format("No module of {} exchanges tokens of a size that can be cut.", pattern));
    return context.report(1);
  }
  std::vector<Made> made;
  const ChunkLoweringOptions options{
      .mode = mode,
      .early_sums = arguments.boolean("optimize_grad_live_out"),
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
    return fail(
        Error::Kind::usage,
        "nothing of {} is over a size that can be cut: run populate_chunk_dim_metadata on a "
        "step that was traced for graph chunking",
        pattern);
  JOINTER_CHECK(program.finish());
  for (Made& each : made)
    if (graph.is_live(each.node))
      context.decide(graph, each.node, std::move(each.action), std::move(each.reason));
  context.decide("chunked", fmt::format("{} modules and directions are cut in two along the {}.",
                                        count, arguments.text("mode")));
  return context.report(1);
}

}  // namespace

Pass ep_overlap_chunk_pass() {
  return {
      .info = {.name = "ep_overlap_chunk",
               .summary = "Cuts MoE modules in two along the batch or the sequence, so that tokens "
                          "of one half are exchanged beside the other's compute.",
               .source = "torchtitan/experiments/graph_trainer/ep_chunk_pass.py",
               .stage = PassStage::joint,
               .parameters =
                   {choice("mode", {"batch", "seq"}, "batch", "The dimension that is cut in two."),
                    text("module_pattern", "layers.*.moe",
                         "Which modules: layers.*.moe or layers.*; a star stands for one name."),
                    flag("optimize_grad_live_out", true,
                         "Add gradients of both halves before the views and collectives that "
                         "follow, which then run once."),
                    flag("require_all_to_all", false,
                         "Refuse a graph in which no such module exchanges tokens; else modules "
                         "that annotations name are cut, too.")},
               .keeps_numerics = false,
               .is_idempotent = false},
      .run = run};
}

}  // namespace jointer
