// Finds greedy buckets.
//
// Steps. Visit the waits in the given order. Consecutive waits of collectives with equal keys
// (bucket_key.h) form a list. Fill buckets from each list, up to the cap: a collective that depends
// on a member of the bucket is left out, and a collective that does not fit begins the next bucket.
//
// Source: torch/_inductor/fx_passes/bucketing.py, greedy_bucket_collective_by_mb (2.11 and 2.15).
// Cost: V^2 / 16 bytes of memory for the ancestors of V nodes.

#include "passes/bucketing/greedy_buckets.h"

#include <algorithm>
#include <unordered_map>

#include "passes/bucketing/augmented_graph.h"
#include "passes/bucketing/overlap_plan.h"

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
    // The reason also holds for the first member, if it stays alone.
    if (bucketing.why[bucket.front()] != NoBucket::alone) return;
    bucketing.why[bucket.front()] = why;
    bucketing.with[bucket.front()] = c;
  };
  for (const Number c : alike) {
    const Place start = g.collectives[c].start;
    const bool needs_member = std::ranges::any_of(
        bucket, [&](Number member) { return ancestors.has(start, g.collectives[member].start); });
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

// Records the reason for collectives that stay alone although others have the same key.
void note_other_neighbors(const OverlapGraph& g, CollectiveKind kind, Bucketing& bucketing) {
  std::unordered_map<std::uint32_t, std::size_t> count;  // by key
  for (const OverlapCollective& collective : g.collectives) ++count[collective.key];
  for (Number c = 0; c < g.collectives.size(); ++c) {
    const OverlapCollective& collective = g.collectives[c];
    const bool is_of_kind =
        g.graph->op(g.graph->node(g.nodes[collective.start])).collective == kind;
    if (is_of_kind && bucketing.why[c] == NoBucket::alone && collective.key != kNever &&
        count[collective.key] > 1)
      bucketing.why[c] = NoBucket::no_neighbor;
  }
}

}  // namespace

Bucketing find_greedily(const OverlapGraph& g, std::span<const Place> order, CollectiveKind kind,
                        std::int64_t cap, const std::function<bool(std::uint32_t)>& takes) {
  OverlapPlan plan = plan_as_given(g);
  const Ancestors ancestors(g, plan.schedule.order, {});
  std::vector<Number> row;
  std::uint32_t key = kNever;
  for (const Place wait : order) {
    if (g.wait_of[wait] < 0) continue;
    const auto c = static_cast<Number>(g.wait_of[wait]);
    if (g.collectives[c].wait != wait) continue;  // another wait of a list of tensors
    const Node& start = g.graph->node(g.nodes[g.collectives[c].start]);
    if (g.graph->op(start).collective != kind || g.collectives[c].key == kNever) continue;
    if (takes && !takes(c)) continue;
    if (g.collectives[c].key != key) {
      fill_buckets(g, ancestors, row, cap, plan.bucketing);
      row.clear();
      key = g.collectives[c].key;
    }
    row.push_back(c);
  }
  fill_buckets(g, ancestors, row, cap, plan.bucketing);
  note_other_neighbors(g, kind, plan.bucketing);
  return std::move(plan.bucketing);
}

}  // namespace jointer
