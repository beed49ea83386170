// Steps, for all-gathers, then reduce-scatters, then all-reduces. Take the waits in program order;
// those in a row whose collectives have equal keys (bucket_key.h) make a list. Fill buckets from
// the list, each up to the cap: what needs a member of the bucket is passed over, and what does not
// fit begins the next bucket. Buckets of two or more are merged; each stands where its last member
// stood, and everything that needs it behind it (core/schedule/stable_order.h). Where the buckets
// of a kind would exceed the peak limit, that kind is not merged.
//
// Source: torch/_inductor/fx_passes/bucketing.py, greedy_bucket_collective_by_mb and
// bucket_..._by_mb (2.11). Deviation: the order is put right afterwards; torch leaves that to a
// later pass.
//
// Cost: V^2 / 128 bytes to know what needs what, once for each of the three kinds.

#include "passes/bucketing/greedy_bucketing_by_mb.h"

#include <algorithm>

#include "core/base/checked.h"
#include "passes/bucketing/augmented_graph.h"
#include "passes/bucketing/overlap_plan.h"
#include "passes/bucketing/overlap_reasons.h"
#include "passes/kept.h"
#include "passes/parameters.h"
#include "passes/peak_limit.h"

namespace jointer {
namespace {

using Number = std::uint32_t;

std::int64_t larger_side(const Graph& graph, const Node& start) {
  const auto inputs = graph.inputs(start);
  const std::int64_t in = inputs.empty() ? 0 : graph.output_bytes(graph.node(inputs.front()));
  return std::max(in, graph.output_bytes(start));
}

void fill_buckets(const OverlapGraph& g, const Ancestors& ancestors,
                  const std::vector<Number>& alike, std::int64_t cap, Bucketing& bucketing) {
  std::vector<Number> bucket;
  std::int64_t bytes = 0;
  const auto close = [&] {
    if (bucket.size() > 1) {
      for (const Number c : bucket) bucketing.why[c] = NoBucket::none;
      bucketing.buckets.push_back(bucket);
    }
    bucket.clear();
    bytes = 0;
  };
  const auto refuse = [&](Number c, NoBucket why) {
    bucketing.why[c] = why;
    bucketing.with[c] = bucket.front();
  };
  for (const Number c : alike) {
    const Place start = g.collectives[c].start;
    const bool needs_member = std::any_of(bucket.begin(), bucket.end(), [&](Number member) {
      return ancestors.has(start, g.collectives[member].start);
    });
    if (needs_member) {
      refuse(c, NoBucket::needed);
      continue;
    }
    const std::int64_t size = larger_side(*g.graph, g.graph->node(g.nodes[start]));
    if (bytes + size > cap && !bucket.empty()) {
      refuse(c, NoBucket::too_large);
      close();
    }
    bytes += size;
    bucket.push_back(c);
  }
  close();
}

Bucketing find_greedily(const OverlapGraph& g, CollectiveKind kind, std::int64_t cap) {
  OverlapPlan plan = plan_as_given(g);
  const Ancestors ancestors(g, plan.schedule.order, {});
  std::vector<Number> row;
  std::uint32_t key = kNever;
  for (Number c = 0; c < g.collectives.size(); ++c) {
    const Node& start = g.graph->node(g.nodes[g.collectives[c].start]);
    if (g.graph->op(start).collective != kind || g.collectives[c].key == kNever) continue;
    if (g.collectives[c].key != key) {
      fill_buckets(g, ancestors, row, cap, plan.bucketing);
      row.clear();
      key = g.collectives[c].key;
    }
    row.push_back(c);
  }
  fill_buckets(g, ancestors, row, cap, plan.bucketing);
  return std::move(plan.bucketing);
}

struct Kind {
  CollectiveKind kind;
  const char* parameter;
};
constexpr Kind kKinds[] = {{CollectiveKind::all_gather, "all_gather"},
                           {CollectiveKind::reduce_scatter, "reduce_scatter"},
                           {CollectiveKind::all_reduce, "all_reduce"}};

Result<void> run(Graph& graph, const Arguments& arguments, PassContext& context) {
  const std::int64_t cap = saturating_whole(arguments.number("bucket_cap_mb") * 1024 * 1024);
  const BucketDtypes dtypes =
      arguments.boolean("multidtype") ? BucketDtypes::several : BucketDtypes::one;
  double done = 0;
  for (std::size_t part = 0; part < graph.part_count(); ++part)
    for (const Kind& kind : kKinds) {
      JOINTER_CHECK(context.report(done / static_cast<double>(3 * graph.part_count())));
      done += 1;
      if (!arguments.boolean(kind.parameter)) continue;
      const Dependencies dependencies(graph);
      const std::vector<NodeCost> costs(graph.node_count());
      const OverlapGraph g(graph, PartId(part), dependencies, costs, dtypes);
      OverlapPlan plan = plan_as_given(g);
      plan.bucketing = find_greedily(g, kind.kind, cap);
      JOINTER_TRY(PlannedGraph merged, with_plan(g, dependencies, plan, dtypes));
      for (Number c = 0; c < g.collectives.size(); ++c)
        if (graph.op(graph.node(g.nodes[g.collectives[c].start])).collective != kind.kind)
          plan.bucketing.why[c] = NoBucket::none;  // not asked about
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
               .summary = "Merges neighbouring collectives that are alike, up to a size.",
               .source = "torch/_inductor/fx_passes/bucketing.py",
               .stage = PassStage::bucketing,
               .parameters = {number("bucket_cap_mb", 2000.0,
                                     "MiB that a bucket may hold, of its larger side."),
                              flag("all_gather", true, "Whether all-gathers are merged."),
                              flag("reduce_scatter", true, "Whether reduce-scatters are merged."),
                              flag("all_reduce", true, "Whether all-reduces are merged."),
                              flag("multidtype", false,
                                   "Whether all-gathers of several dtypes may share a "
                                   "bucket, as bytes.")},
               .keeps_numerics = true,
               .is_idempotent = false},
      .run = or_kept("There is no collective in it of a kind that is merged.", run)};
}

}  // namespace jointer
