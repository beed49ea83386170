// Builds the graph of a plan, with its buckets in torch's form.
//
// Terms. The program is the original order, with each bucket at the position of its last member's
// start. It determines the order of reads and writes of the same memory.
//
// Steps: put the nodes into the order of the schedule; insert the buckets one by one
// (fx_buckets.h); then move every node after the nodes that it depends on
// (core/schedule/stable_order.h), including the plan's dependencies. A bucket inherits the
// dependencies of its members.
//
// Source: torch/_inductor/fx_passes/overlap_preserving_bucketer.py (2.15), _apply_bucket and
// _apply_deps_and_effect_tokens.
// Deviations: torch orders nodes by arguments alone. In `custom_ops`, it unpacks buckets with a
// call that nothing reads, and places readers of the results before that call; here they stay after
// it. A collective does not join a bucket if something else writes to its input or result.
//
// Cost: linear in the number of nodes for each bucket.

#include "passes/bucketing/torch_buckets.h"

#include <algorithm>

#include "core/graph/effects.h"
#include "core/schedule/stable_order.h"
#include "passes/bucketing/fx_buckets.h"
#include "passes/bucketing/plan_dependencies.h"

namespace jointer {
namespace {

using Number = std::uint32_t;

class TorchBuilder {
 public:
  TorchBuilder(const OverlapGraph& from, const Dependencies& dependencies, OverlapPlan& plan,
               const TorchBuckets& options, BucketNames& names)
      : from_(from),
        dependencies_(dependencies),
        plan_(plan),
        options_(options),
        names_(names),
        part_(from.graph->node(from.nodes.front()).part),
        graph_(*from.graph) {}

  Result<PlannedGraph> run() {
    std::vector<NodeId> half;
    for (const Place p : schedule_order(from_, plan_)) half.push_back(from_.nodes[p]);
    graph_.set_order(with_other_half(from_, half));
    JOINTER_CHECK(merge());
    std::vector<NodeId> list(graph_.order().begin(), graph_.order().end());
    if (merged_.empty()) {
      JOINTER_CHECK(put_in_order(dependencies_, list));
    } else {
      graph_.set_order(with_other_half(from_, program_order()));
      JOINTER_CHECK(graph_.finish());
      JOINTER_CHECK(put_readers_behind());
      JOINTER_CHECK(put_in_order(Dependencies(graph_), list));
    }
    PlannedGraph done{.graph = std::move(graph_), .merged = {}, .list = std::move(list)};
    for (Placed& placed : merged_) done.merged.push_back(std::move(placed.bucket));
    return done;
  }

 private:
  struct Placed {
    MergedBucket bucket;
    std::vector<NodeId> results;
    std::vector<PlanDependencies::Replacement> replaced;  // starts, waits, casts
    Place behind = 0;                                     // position in the program
  };

  [[nodiscard]] const OverlapCollective& collective(Number c) const { return from_.collectives[c]; }
  [[nodiscard]] WaitedCollective nodes_of(Number c) const {
    return {.start = from_.nodes[collective(c).start], .wait = from_.nodes[collective(c).wait]};
  }

  Result<void> merge() {
    FxProgram program(graph_, part_);
    std::vector<std::vector<Number>> kept;
    for (std::vector<Number>& bucket : plan_.bucketing.buckets) {
      if (std::ranges::any_of(bucket, [&](Number c) {
            return is_written(*from_.graph, dependencies_, nodes_of(c));
          })) {
        plan_.bucketing.leave(bucket, NoBucket::written);
        continue;
      }
      std::vector<BucketMember> members;
      for (const Number c : bucket) {
        const auto inputs = graph_.inputs(nodes_of(c).start);
        auto member = read_bucket_member(graph_, nodes_of(c),
                                         inputs.empty() ? 0 : program.users(inputs.front()).size());
        if (member) members.push_back(*std::move(member));
      }
      if (members.size() < bucket.size()) {
        plan_.bucketing.leave(bucket, NoBucket::unlike);
        continue;
      }
      const NodeId at = options_.after_last ? members.back().start : members.front().start;
      JOINTER_TRY(const PlacedBucket placed,
                  place_bucket(graph_, program, names_, members, options_.form,
                               behind_members(program, members, at)));
      keep(bucket, members, placed.calls);
      kept.push_back(std::move(bucket));
    }
    plan_.bucketing.buckets = std::move(kept);
    program.apply();
    return {};
  }

  void keep(const std::vector<Number>& bucket, const std::vector<BucketMember>& members,
            const BucketCalls& calls) {
    Placed& placed = merged_.emplace_back();
    placed.bucket.start = calls.start;
    placed.bucket.wait = calls.waits.back();
    placed.bucket.ahead = calls.ahead;
    placed.bucket.behind = calls.behind;
    placed.results = calls.results;
    for (const Number c : bucket) placed.behind = std::max(placed.behind, collective(c).start);
    for (const BucketMember& member : members) {
      placed.bucket.old_starts.push_back(member.start);
      placed.bucket.old_waits.push_back(member.wait);
    }
    for (const NodeId start : placed.bucket.old_starts)
      placed.replaced.emplace_back(start, calls.start);
    for (const NodeId wait : placed.bucket.old_waits)
      placed.replaced.emplace_back(wait, calls.waits.back());
    for (const BucketMember& member : members)
      if (member.cast)
        placed.replaced.emplace_back(member.cast, options_.form == BucketForm::custom_ops
                                                      ? calls.ahead.front()
                                                      : calls.start);
  }

  [[nodiscard]] std::vector<NodeId> program_order() const {
    std::vector<std::vector<std::size_t>> behind(from_.size());
    for (std::size_t i = 0; i < merged_.size(); ++i) behind[merged_[i].behind].push_back(i);
    std::vector<NodeId> half;
    for (Place p = 0; p < from_.size(); ++p) {
      if (graph_.is_live(from_.nodes[p])) half.push_back(from_.nodes[p]);
      for (const std::size_t i : behind[p])
        for (const auto* calls : {&merged_[i].bucket.ahead, &merged_[i].bucket.behind})
          half.insert(half.end(), calls->begin(), calls->end());
    }
    return half;
  }

  // Moves the members' results, and with them their readers, after the call that fills them. In the
  // program, readers may precede that call.
  Result<void> put_readers_behind() {
    const auto is_new = [&](NodeId id) {
      return id.index() >= from_.place_of.size() || from_.place_of[id.index()] == kNoPlace;
    };
    std::vector<OrderEdge> edges;
    for (const Placed& placed : merged_)
      for (const NodeId id : placed.bucket.behind)
        if (may_write(graph_.op(graph_.node(id))))
          for (const NodeId result : placed.results)
            edges.push_back({.before = id, .after = result});
    JOINTER_TRY(std::vector<NodeId> order,
                stable_order(graph_, Dependencies(graph_), graph_.order(), edges,
                             [&](const Dependency& d, NodeId of) {
                               return d.kind == DependencyKind::write &&
                                      (is_new(d.node) || is_new(of));
                             }));
    graph_.set_order(std::move(order));
    return {};
  }

  // True if `of` is derived from the result of `d.node` through first inputs, and so depends on
  // that node anyway.
  [[nodiscard]] bool is_implied(const Dependency& d, NodeId of) const {
    constexpr int kLongest = 16;
    if (d.kind != DependencyKind::write) return false;
    for (int i = 0; i < kLongest; ++i) {
      const auto inputs = graph_.inputs(of);
      if (inputs.empty()) return false;
      of = inputs.front();
      if (of == d.node) return true;
    }
    return false;
  }

  Result<void> put_in_order(const Dependencies& dependencies, std::span<const NodeId> wanted) {
    PlanDependencies plan(graph_.node_count());
    for (const auto& [place, needed] : plan_.bucketing.dependencies)
      plan.add(from_.nodes[place], from_.nodes[needed]);
    for (const Placed& placed : merged_) plan.replace(graph_, placed.replaced);
    JOINTER_TRY(std::vector<NodeId> order,
                stable_order(graph_, dependencies, wanted, plan.edges(graph_),
                             [&](const Dependency& d, NodeId of) { return is_implied(d, of); }));
    graph_.set_order(std::move(order));
    return {};
  }

  const OverlapGraph& from_;
  const Dependencies& dependencies_;
  OverlapPlan& plan_;
  const TorchBuckets& options_;
  BucketNames& names_;
  PartId part_;
  Graph graph_;
  std::vector<Placed> merged_;
};

}  // namespace

Result<PlannedGraph> with_torch_plan(const OverlapGraph& from, const Dependencies& dependencies,
                                     OverlapPlan& plan, const TorchBuckets& buckets,
                                     BucketNames& names) {
  return TorchBuilder(from, dependencies, plan, buckets, names).run();
}

}  // namespace jointer
