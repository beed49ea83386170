// Merges each transformer block's FSDP collectives and overlaps them with the neighboring block.
//
// Terms
//   plan      lists of modules (module_plan.h); each list is an entry. A block is the modules of an
//             entry.
//   bucket    FSDP's all-gathers or reduce-scatters (fsdp_collectives.h) in a block, with the same
//             group, reduction and dtype. A single collective is a bucket too.
//
// Steps
//   1. Merge the buckets. A bucket's wait replaces the first of its members' waits.
//   2. Prefetch all-gathers one block ahead: in program order, a bucket starts before the wait of
//      the previous bucket, and the first buckets start before the first compute node.
//   3. Delay reduce-scatters by one block: a bucket is waited for after the start of the next
//      bucket.
//   4. Sort everything by these edges (core/schedule/stable_order.h). Edges that would form a cycle
//      are left out; torch would fail. The graph stays unchanged if the result's peak would exceed
//      both the limit and the original graph's peak.
//
// Source: torch/_inductor/fx_passes/overlap_manual_scheduling.py, manual_overlap_bucketing (2.11),
// with the plan of torchtitan's transformer_block_bucketing. For a graph captured with torch 2.13
// or later, bucket_blocks (joint_transformer_block_bucketing_reordering.cpp) applies the steps of
// torch 2.15: buckets are torch's own calls, and members that depend on each other are separated.
// Deviations: the plan can be derived from the model's modules; control_deps nodes
// (`insert_overlap_deps`), which only later stages of Inductor use, are not created; and the
// deviations of bucket_blocks.
//
// Cost: V^2 / 16 bytes of memory for the ancestors of V nodes; a trial is linear in the number of
// nodes between the two collectives.

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "core/graph/torch_version.h"
#include "core/schedule/stable_order.h"
#include "passes/bucketing/augmented_graph.h"
#include "passes/bucketing/bucketing.h"
#include "passes/bucketing/fsdp_collectives.h"
#include "passes/bucketing/joint_transformer_block_bucketing_reordering.h"
#include "passes/bucketing/module_plan.h"
#include "passes/bucketing/overlap_plan.h"
#include "passes/bucketing/overlap_reasons.h"
#include "passes/support/kept.h"
#include "passes/support/parameters.h"
#include "passes/support/peak_limit.h"

namespace jointer {
namespace {

using Number = std::uint32_t;

// The start and wait of a bucket or of a single collective, which steps 2 and 3 move.
struct MovedBucket {
  NodeId start, wait;
  bool gathers = false;
};

class OldBlockBucketing {
 public:
  OldBlockBucketing(const Graph& graph, PartId part, const std::vector<std::uint32_t>& entries,
                    const ModulePlan& plan, PassContext& context)
      : graph_(graph),
        part_(part),
        entries_(entries),
        modules_(plan),
        context_(context),
        users_(graph),
        dependencies_(graph),
        costs_(graph.node_count()),
        half_(graph, part, dependencies_, costs_, BucketDtypes::one),
        ancestors_(half_, plan_as_given(half_).schedule.order, {}) {}

  Result<Graph> run() {
    JOINTER_CHECK(report(0.3));
    find_buckets();
    if (groups_.empty()) return graph_;
    JOINTER_CHECK(report(0.4));
    OverlapPlan plan = plan_as_given(half_);
    plan.waits_stay = true;
    for (const auto& group : groups_)
      if (group.size() > 1) {
        plan.bucketing.buckets.push_back(group);
        for (const Number c : group) plan.bucketing.why[c] = NoBucket::none;
      }
    JOINTER_TRY(PlannedGraph merged, with_plan(half_, dependencies_, plan, BucketDtypes::one));
    JOINTER_CHECK(report(0.7));
    Graph& result = merged.graph;
    const Dependencies dependencies(result);
    const std::vector<OrderEdge> edges =
        possible(result, dependencies, find_edges(result, buckets_to_move(result, merged)));
    JOINTER_TRY(std::vector<NodeId> order,
                stable_order(result, dependencies, result.order(), edges));
    result.set_order(std::move(order));
    JOINTER_CHECK(report(0.9));
    if (!is_within_peak_limit(graph_, result, context_)) return graph_;
    decide(result, plan);
    return std::move(result);
  }

 private:
  // Reports the progress in this half.
  [[nodiscard]] Result<void> report(double done) const {
    const auto parts = static_cast<double>(graph_.part_count());
    return context_.report((static_cast<double>(part_.index()) + done) / parts);
  }

  // Groups FSDP's collectives by block and key. Blocks are in the plan's order, and collectives in
  // the order of their waits.
  void find_buckets() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Number>> found;
    for (Number c = 0; c < half_.collectives.size(); ++c) {
      const OverlapCollective& collective = half_.collectives[c];
      const NodeId start = half_.nodes[collective.start];
      const std::uint32_t entry = entries_[start.index()];
      if (entry == kNoEntry || collective.key == kNever) continue;
      if (!is_fsdp(start)) continue;
      found[{entry, collective.key}].push_back(c);
    }
    AugmentedGraph merged(half_, ancestors_);
    for (auto& [key, group] : found) groups_.push_back(without_cycles(merged, group));
  }

  // The members that can share a bucket without a cycle, given the buckets made so far.
  std::vector<Number> without_cycles(AugmentedGraph& merged, const std::vector<Number>& group) {
    std::vector<Number> kept{group.front()};
    const Place seed = half_.collectives[group.front()].start;
    for (std::size_t i = 1; i < group.size(); ++i) {
      const Place start = half_.collectives[group[i]].start;
      if (merged.has_path(seed, start) || merged.has_path(start, seed)) {
        apart_.push_back(group[i]);
        continue;
      }
      merged.merge(seed, start);
      kept.push_back(group[i]);
    }
    return kept;
  }

  [[nodiscard]] std::vector<MovedBucket> buckets_to_move(const Graph& result,
                                                         const PlannedGraph& merged) const {
    std::vector<MovedBucket> all;
    for (const MergedBucket& bucket : merged.merged)
      all.push_back({bucket.start, bucket.wait, false});
    for (const auto& group : groups_)
      for (const Number c : group)
        if (const NodeId start = half_.nodes[half_.collectives[c].start]; result.is_live(start))
          all.push_back({start, half_.nodes[half_.collectives[c].wait], false});
    for (MovedBucket& bucket : all)
      bucket.gathers =
          result.op(result.node(bucket.start)).collective == CollectiveKind::all_gather;
    return all;
  }

  // The edges that steps 2 and 3 add to the current order.
  [[nodiscard]] std::vector<OrderEdge> find_edges(const Graph& result,
                                                  std::vector<MovedBucket> all) const {
    std::vector<OrderEdge> edges;
    const auto split = std::stable_partition(
        all.begin(), all.end(), [](const MovedBucket& bucket) { return bucket.gathers; });
    add_gathers(result, std::span(all.begin(), split), edges);
    add_scatters(result, std::span(split, all.end()), edges);
    return edges;
  }

  // The starts and waits in program order. The second value is true for a wait.
  static std::vector<std::pair<NodeId, bool>> events_of(const Graph& result,
                                                        std::span<const MovedBucket> buckets) {
    std::vector<std::pair<NodeId, bool>> events;
    for (const MovedBucket& bucket : buckets) {
      events.emplace_back(bucket.start, false);
      events.emplace_back(bucket.wait, true);
    }
    std::ranges::sort(events, {}, [&](const auto& event) { return result.position(event.first); });
    return events;
  }

  // Visits the nodes in reverse order: starts found between two waits move before the earlier wait.
  void add_gathers(const Graph& result, std::span<const MovedBucket> gathers,
                   std::vector<OrderEdge>& edges) const {
    auto events = events_of(result, gathers);
    std::ranges::reverse(events);
    std::vector<NodeId> picked;
    for (const auto& [node, is_wait] : events) {
      if (!is_wait) {
        picked.push_back(node);
        continue;
      }
      for (const NodeId start : picked) edges.push_back({.before = start, .after = node});
      picked.clear();
    }
    const NodeId compute = first_compute(result);
    if (!compute) return;
    for (const NodeId start : picked) edges.push_back({.before = start, .after = compute});
  }

  // Visits the nodes in program order: waits move after the starts that follow them, up to the next
  // wait.
  void add_scatters(const Graph& result, std::span<const MovedBucket> scatters,
                    std::vector<OrderEdge>& edges) const {
    std::vector<NodeId> starts, delayed;
    for (const auto& [node, is_wait] : events_of(result, scatters)) {
      if (!is_wait) {
        starts.push_back(node);
        continue;
      }
      if (!starts.empty()) {
        for (const NodeId wait : delayed)
          for (const NodeId start : starts) edges.push_back({.before = start, .after = wait});
        delayed.clear();
        starts.clear();
      }
      delayed.push_back(node);
    }
  }

  // The edges without those that would form a cycle. For example, a block whose parameters are
  // computed in the previous block cannot be prefetched before that block.
  [[nodiscard]] std::vector<OrderEdge> possible(const Graph& result,
                                                const Dependencies& dependencies,
                                                const std::vector<OrderEdge>& edges) const {
    const std::vector<NodeCost> costs(result.node_count());
    const OverlapGraph half(result, graph_.node(half_.nodes.front()).part, dependencies, costs,
                            BucketDtypes::one);
    const Ancestors ancestors(half, plan_as_given(half).schedule.order, {});
    AugmentedGraph augmented(half, ancestors);
    std::vector<OrderEdge> kept;
    for (const OrderEdge& edge : edges) {
      const Place from = half.place_of[edge.before.index()], to = half.place_of[edge.after.index()];
      if (from == to || augmented.has_path(to, from)) continue;
      augmented.add(to, from);
      kept.push_back(edge);
    }
    return kept;
  }

  [[nodiscard]] NodeId first_compute(const Graph& result) const {
    for (const NodeId id : result.order())
      if (id.index() < half_.place_of.size() && half_.place_of[id.index()] != kNoPlace &&
          half_.is_compute[half_.place_of[id.index()]])
        return id;
    return {};
  }

  void decide(const Graph& result, OverlapPlan& plan) {
    for (Number c = 0; c < half_.collectives.size(); ++c)
      if (plan.bucketing.why[c] == NoBucket::alone) plan.bucketing.why[c] = NoBucket::none;
    decide_buckets(result, half_, plan, context_);
    std::vector<bool> is_ours(half_.collectives.size(), false);
    for (const auto& group : groups_)
      for (const Number c : group) {
        is_ours[c] = true;
        if (group.size() == 1)
          context_.decide(
              result, half_.nodes[half_.collectives[c].start], "alone",
              fmt::format(
                  "No other collective of its kind, group and dtype in {} can join it.",
                  fmt::join(modules_[entries_[half_.nodes[half_.collectives[c].start].index()]],
                            ", ")));
      }
    for (Number c = 0; c < half_.collectives.size(); ++c)
      if (!is_ours[c])
        context_.decide(result, half_.nodes[half_.collectives[c].start], "kept",
                        std::string(why_not(c)));
  }

  [[nodiscard]] std::string_view why_not(Number c) const {
    const NodeId start = half_.nodes[half_.collectives[c].start];
    if (entries_[start.index()] == kNoEntry) return "Its module is not in the plan.";
    if (std::ranges::find(apart_, c) != apart_.end())
      return "It depends on another collective of its block, or vice versa.";
    if (!is_fsdp(start))
      return graph_.op(graph_.node(start)).collective == CollectiveKind::all_gather
                 ? kNotFsdpGather
                 : kNotFsdpScatter;
    return half_.collectives[c].schedule_key == kNever ? kNoBucketKey
                                                       : "The output reads its start.";
  }

  [[nodiscard]] bool is_fsdp(NodeId start) const {
    return is_fsdp_all_gather(graph_, start) || is_fsdp_reduce_scatter(graph_, users_, start);
  }

  const Graph& graph_;
  PartId part_;
  const std::vector<std::uint32_t>& entries_;
  const ModulePlan& modules_;
  PassContext& context_;
  Users users_;
  Dependencies dependencies_;
  std::vector<NodeCost> costs_;  // not used
  OverlapGraph half_;
  Ancestors ancestors_;
  std::vector<std::vector<Number>> groups_;  // members of one bucket
  std::vector<Number> apart_;                // collectives with a dependency within their block
};

BucketForm form_of(std::string_view mode) {
  if (mode == "default") return BucketForm::standard;
  return mode == "coalesced" ? BucketForm::coalesced : BucketForm::custom_ops;
}

Result<void> run_transformer_block_bucketing(Graph& graph, const Arguments& arguments,
                                             PassContext& context) {
  const bool is_new = torch_version_of(graph) >= TorchVersion{.major = 2, .minor = 13};
  const std::string& mode = arguments.text("bucket_mode");
  if (!is_new && mode != "auto")
    return fail(Error::Kind::usage,
                "bucket_mode={} requires a graph captured with torch 2.13 or later; this graph was "
                "captured with torch {}",
                mode, graph.part(PartId(0)).torch_version);
  const Graph before = graph;
  const std::size_t first = context.decisions().size();
  bool changed = false;
  JOINTER_TRY(const std::optional<ModulePlan> given, given_module_plan(graph, arguments));
  for (std::size_t part = 0; part < graph.part_count(); ++part) {
    JOINTER_CHECK(
        context.report(static_cast<double>(part) / static_cast<double>(graph.part_count())));
    const ModuleTree modules(graph);
    const ModulePlan plan = given ? *given : derive_module_plan(modules);
    if (plan.empty()) {
      context.decide("kept", given
                                 ? "`module_bucket_plans` is empty."
                                 : "The graph does not record which modules its nodes belong to.");
      return {};
    }
    JOINTER_TRY(const std::vector<std::uint32_t> entries, entries_by_node(graph, modules, plan));
    if (!is_new) {
      JOINTER_TRY(graph, OldBlockBucketing(graph, PartId(part), entries, plan, context).run());
      continue;
    }
    BlockBucketOptions options;
    options.by_direction = false;
    options.defers_all_reduces = true;
    options.form = form_of(mode);
    JOINTER_TRY(const bool done,
                bucket_blocks(graph, PartId(part), modules, plan, entries, options, context));
    changed = changed || done;
  }
  if (changed) {
    JOINTER_CHECK(graph.finish());
    undo_above_peak_limit(graph, before, first, context);
  }
  return context.report(1);
}

}  // namespace

Pass transformer_block_bucketing() {
  return {
      .info = {.name = "transformer_block_bucketing",
               .summary = "Merges each transformer block's FSDP collectives and overlaps them with "
                          "the neighboring block.",
               .source = "torch/_inductor/fx_passes/overlap_manual_scheduling.py",
               .stage = PassStage::bucketing,
               .parameters = {parameter("module_bucket_plans", Parameter::Type::list, {},
                                        "Modules, or lists of modules, whose collectives share "
                                        "buckets: [tok_embeddings,[norm,lm_head],layers.0]; none: "
                                        "derived from the model."),
                              choice("bucket_mode",
                                     {"auto", "default", "custom_ops", "custom_ops_multidtype",
                                      "coalesced"},
                                     "auto",
                                     "Form of the buckets in a graph captured with torch 2.13 or "
                                     "later; auto: custom_ops.")}},
      .run = with_kept_decision("The plan's modules have no FSDP collectives.",
                                run_transformer_block_bucketing)};
}

}  // namespace jointer
