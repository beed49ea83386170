// Applies a plan. Steps: merge the buckets; place their new nodes in the schedule's order where
// torch places them (after the last member of an all-gather bucket; after the first member of any
// other bucket and the members that directly follow it); then move every node after the nodes that
// it depends on, including dependencies of the plan (core/schedule/stable_order.h).

#include "passes/bucketing/overlap_plan.h"

#include <algorithm>

#include "core/schedule/stable_order.h"

namespace jointer {
namespace {

// True if something writes to a tensor that the node reads or returns. In a bucket, that write
// would also be ordered relative to the other members.
bool is_written(const Dependencies& dependencies, NodeId id) {
  const auto has_write = [](std::span<const Dependency> list) {
    return std::ranges::any_of(list,
                               [](const Dependency& d) { return d.kind != DependencyKind::data; });
  };
  return has_write(dependencies.before(id)) || has_write(dependencies.after(id));
}

class Builder {
 public:
  Builder(const OverlapGraph& from, const Dependencies& dependencies, OverlapPlan& plan,
          BucketDtypes dtypes)
      : from_(from),
        dependencies_(dependencies),
        plan_(plan),
        dtypes_(dtypes),
        graph_(*from.graph),
        stands_for_(from.size()) {
    for (Place p = 0; p < from.size(); ++p) stands_for_[p] = from.nodes[p];
  }

  Result<PlannedGraph> run() {
    merge();
    if (merged_.empty()) {
      JOINTER_CHECK(put_in_order(dependencies_));
    } else {
      // New nodes read the inputs of the members, so dependencies can be derived only once the new
      // nodes are in place.
      graph_.set_order(with_other_half(from_, half_order(program_order(), true)));
      JOINTER_CHECK(graph_.finish());
      JOINTER_CHECK(put_in_order(Dependencies(graph_)));
    }
    PlannedGraph done{.graph = std::move(graph_), .merged = {}};
    for (Placed& placed : merged_) done.merged.push_back(std::move(placed.bucket));
    return done;
  }

 private:
  struct Placed {
    MergedBucket bucket;
    Place behind_in_program, after_in_schedule;
    Place wait_before = kNoPlace;  // in the schedule; kNoPlace: after the start
  };

  void merge() {
    auto& bucketing = plan_.bucketing;
    std::erase_if(bucketing.buckets, [&](const std::vector<std::uint32_t>& bucket) {
      const bool written = std::ranges::any_of(bucket, [&](std::uint32_t c) {
        const OverlapCollective& member = from_.collectives[c];
        return is_written(dependencies_, from_.nodes[member.start]) ||
               is_written(dependencies_, from_.nodes[member.wait]);
      });
      if (written) bucketing.leave(bucket, NoBucket::written);
      return written;
    });
    if (bucketing.buckets.empty()) return;
    std::vector<std::vector<NodeId>> starts;
    for (const auto& bucket : bucketing.buckets) {
      starts.emplace_back();
      for (const std::uint32_t c : bucket)
        starts.back().push_back(from_.nodes[from_.collectives[c].start]);
    }
    auto merged =
        merge_buckets(graph_, starts, {.several_dtypes = dtypes_ == BucketDtypes::several});
    std::vector<std::vector<std::uint32_t>> kept;
    for (std::size_t i = 0; i < merged.size(); ++i) {
      if (!merged[i]) {
        bucketing.leave(bucketing.buckets[i], NoBucket::unlike);
        continue;
      }
      place(*std::move(merged[i]), bucketing.buckets[i]);
      kept.push_back(std::move(bucketing.buckets[i]));
    }
    bucketing.buckets = std::move(kept);
  }

  void place(MergedBucket bucket, const std::vector<std::uint32_t>& members) {
    if (rank_.empty()) {
      rank_.resize(from_.size());
      for (std::size_t i = 0; i < plan_.schedule.order.size(); ++i)
        rank_[plan_.schedule.order[i]] = static_cast<std::uint32_t>(i);
    }
    Placed placed{.bucket = std::move(bucket), .wait_before = kNoPlace};
    for (const std::uint32_t c : members) {
      const OverlapCollective& member = from_.collectives[c];
      placed.behind_in_program = std::max(placed.behind_in_program, member.start);
      stands_for_[member.start] = placed.bucket.start;
      stands_for_[member.wait] = placed.bucket.wait;
      if (plan_.waits_stay &&
          (placed.wait_before == kNoPlace || rank_[member.wait] < rank_[placed.wait_before]))
        placed.wait_before = member.wait;
    }
    const Node& first = from_.graph->node(from_.nodes[from_.collectives[members.front()].start]);
    const bool gathers = from_.graph->op(first).collective == CollectiveKind::all_gather;
    Place behind = from_.collectives[gathers ? members.back() : members.front()].start;
    const auto is_member = [&](Place p) {
      return std::ranges::any_of(members,
                                 [&](std::uint32_t c) { return from_.collectives[c].start == p; });
    };
    while (!gathers && rank_[behind] + 1 < from_.size() &&
           is_member(plan_.schedule.order[rank_[behind] + 1]))
      behind = plan_.schedule.order[rank_[behind] + 1];
    placed.after_in_schedule = behind;
    merged_.push_back(std::move(placed));
  }

  [[nodiscard]] std::vector<Place> program_order() const {
    std::vector<Place> places(from_.size());
    for (Place p = 0; p < places.size(); ++p) places[p] = p;
    return places;
  }

  // The nodes at `places`, with the new nodes inserted.
  [[nodiscard]] std::vector<NodeId> half_order(const std::vector<Place>& places,
                                               bool in_program) const {
    std::vector<std::vector<std::size_t>> starts, waits;  // of buckets, by position
    if (!merged_.empty()) {
      starts.resize(from_.size());
      waits.resize(from_.size());
    }
    for (std::size_t i = 0; i < merged_.size(); ++i) {
      starts[in_program ? merged_[i].behind_in_program : merged_[i].after_in_schedule].push_back(i);
      if (!in_program && merged_[i].wait_before != kNoPlace)
        waits[merged_[i].wait_before].push_back(i);
    }
    std::vector<NodeId> half;
    const auto add = [&](const std::vector<NodeId>& nodes) {
      half.insert(half.end(), nodes.begin(), nodes.end());
    };
    for (const Place p : places) {
      if (!waits.empty())
        for (const std::size_t i : waits[p]) add(merged_[i].bucket.behind);
      if (graph_.is_live(from_.nodes[p])) half.push_back(from_.nodes[p]);
      if (starts.empty()) continue;
      for (const std::size_t i : starts[p]) {
        add(merged_[i].bucket.ahead);
        if (in_program || merged_[i].wait_before == kNoPlace) add(merged_[i].bucket.behind);
      }
    }
    return half;
  }

  Result<void> put_in_order(const Dependencies& dependencies) {
    std::vector<OrderEdge> edges;
    for (const auto& [place, before] : plan_.bucketing.dependencies)
      if (stands_for_[place] != stands_for_[before])
        edges.push_back({.before = stands_for_[before], .after = stands_for_[place]});
    const std::vector<NodeId> wanted =
        with_other_half(from_, half_order(schedule_order(from_, plan_), false));
    JOINTER_TRY(std::vector<NodeId> order, stable_order(graph_, dependencies, wanted, edges));
    graph_.set_order(std::move(order));
    return {};
  }

  const OverlapGraph& from_;
  const Dependencies& dependencies_;
  OverlapPlan& plan_;
  BucketDtypes dtypes_;
  Graph graph_;
  std::vector<NodeId> stands_for_;   // by position: the node, or the bucket that contains it
  std::vector<std::uint32_t> rank_;  // by position: index in the schedule
  std::vector<Placed> merged_;
};

}  // namespace

std::vector<Place> schedule_order(const OverlapGraph& graph, const OverlapPlan& plan) {
  std::vector<Place> places;
  for (Place p = 0; p < graph.leading; ++p) places.push_back(p);
  for (const Place p : plan.schedule.order)
    if (p >= graph.leading) places.push_back(p);
  return places;
}

std::vector<NodeId> with_other_half(const OverlapGraph& from, const std::vector<NodeId>& half) {
  std::vector<NodeId> whole;
  bool is_done = false;
  for (const NodeId id : from.graph->order()) {
    if (from.place_of[id.index()] == kNoPlace) {
      whole.push_back(id);
    } else if (!is_done) {
      is_done = true;
      whole.insert(whole.end(), half.begin(), half.end());
    }
  }
  return whole;
}

OverlapPlan plan_as_given(const OverlapGraph& graph) {
  OverlapPlan plan;
  plan.schedule.fates.resize(graph.collectives.size());
  for (Place p = 0; p < graph.size(); ++p) plan.schedule.order.push_back(p);
  plan.bucketing.why.assign(graph.collectives.size(), NoBucket::alone);
  plan.bucketing.with.assign(graph.collectives.size(), kNever);
  return plan;
}

Result<PlannedGraph> with_plan(const OverlapGraph& from, const Dependencies& dependencies,
                               OverlapPlan& plan, BucketDtypes dtypes) {
  return Builder(from, dependencies, plan, dtypes).run();
}

Result<std::vector<NodeId>> order_with(const OverlapGraph& from, const Dependencies& dependencies,
                                       const std::vector<Place>& places) {
  std::vector<NodeId> half;
  half.reserve(places.size());
  for (const Place p : places) half.push_back(from.nodes[p]);
  return stable_order(*from.graph, dependencies, with_other_half(from, half));
}

}  // namespace jointer
