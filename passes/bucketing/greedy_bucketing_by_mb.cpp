// Merges neighboring similar collectives, up to a maximum size.
//
// Steps, in each half for all-gathers, then reduce-scatters, then all-reduces: find the buckets
// (greedy_buckets.cpp) and merge them. A merged all-gather takes the position of its bucket's last
// member; any other merged collective runs after the first member, once its inputs have run. The
// nodes that depend on it move after it (core/schedule/stable_order.h). A kind is not merged if the
// peak would grow above the peak limit.
//
// Source: torch/_inductor/fx_passes/bucketing.py, bucket_..._by_mb (2.11). Deviation: the order is
// corrected afterwards; torch leaves that to a later pass.
//
// Cost: that of greedy_buckets.cpp, for each of the three kinds.

#include "core/base/checked.h"
#include "passes/bucketing/bucketing.h"
#include "passes/bucketing/greedy_buckets.h"
#include "passes/bucketing/overlap_plan.h"
#include "passes/bucketing/overlap_reasons.h"
#include "passes/support/kept.h"
#include "passes/support/parameters.h"
#include "passes/support/peak_limit.h"

namespace jointer {
namespace {

struct KindParameter {
  CollectiveKind kind;
  const char* parameter;
};
constexpr KindParameter kKinds[] = {{CollectiveKind::all_gather, "all_gather"},
                                    {CollectiveKind::reduce_scatter, "reduce_scatter"},
                                    {CollectiveKind::all_reduce, "all_reduce"}};

Result<void> run_greedy_bucketing_by_mb(Graph& graph, const Arguments& arguments,
                                        PassContext& context) {
  const std::int64_t cap = saturating_whole(arguments.number("bucket_cap_mb") * 1024 * 1024);
  const BucketDtypes dtypes =
      arguments.boolean("multidtype") ? BucketDtypes::several : BucketDtypes::one;
  double done = 0;
  for (std::size_t part = 0; part < graph.part_count(); ++part)
    for (const KindParameter& kind : kKinds) {
      JOINTER_CHECK(context.report(done / static_cast<double>(3 * graph.part_count())));
      done += 1;
      if (!arguments.boolean(kind.parameter)) continue;
      const Dependencies dependencies(graph);
      const std::vector<NodeCost> costs(graph.node_count());
      const OverlapGraph g(graph, PartId(part), dependencies, costs, dtypes);
      OverlapPlan plan = plan_as_given(g);
      plan.bucketing = find_greedily(g, plan.schedule.order, kind.kind, cap);
      JOINTER_TRY(PlannedGraph merged, with_plan(g, dependencies, plan, dtypes));
      for (std::uint32_t c = 0; c < g.collectives.size(); ++c)
        if (graph.op(graph.node(g.nodes[g.collectives[c].start])).collective != kind.kind)
          plan.bucketing.why[c] = NoBucket::none;  // not considered
      if (!is_within_peak_limit(graph, merged.graph, context)) continue;
      decide_buckets(graph, g, plan, context);
      graph = std::move(merged.graph);
    }
  return context.report(1);
}

}  // namespace

Pass greedy_bucketing_by_mb() {
  return {
      .info = {.name = "greedy_bucketing_by_mb",
               .summary = "Merges neighboring collectives of the same kind, up to a maximum size.",
               .source = "torch/_inductor/fx_passes/bucketing.py",
               .stage = PassStage::bucketing,
               .parameters =
                   {number("bucket_cap_mb", 2000.0,
                           "Maximum size of a bucket in MiB, the larger of inputs and results."),
                    flag("all_gather", true, "Merge all-gathers."),
                    flag("reduce_scatter", true, "Merge reduce-scatters."),
                    flag("all_reduce", true, "Merge all-reduces."),
                    flag("multidtype", false,
                         "Let all-gathers of several dtypes share a bucket, as bytes.")}},
      .run = with_kept_decision("The graph has no collective of the kinds to merge.",
                                run_greedy_bucketing_by_mb)};
}

}  // namespace jointer
