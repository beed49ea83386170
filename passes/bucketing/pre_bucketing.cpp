// Merges FSDP's collectives into buckets before they are scheduled.
//
// Terms. FSDP groups: the process groups of all-gathers that depend on exactly one placeholder.
// Cap: the maximum size of a bucket (greedy_buckets.h). Unless it is given, the cap is the smallest
// size at which an all-gather in the first FSDP group reaches 90% of the bandwidth of the group's
// links, clamped to 10-500 MiB.
//
// Steps, for all-gathers, then reduce-scatters, then all-reduces: put neighbors into buckets
// greedily (greedy_buckets.cpp) and merge each bucket. The members are all-gathers that depend on
// one placeholder, reduce-scatters of gradients (is_fsdp_reduce_scatter) with a result that is
// read, and all-reduces of FSDP groups. If `form` is given, buckets are torch's own calls
// at the position of their last member's start, and neighbors and positions refer to torch's list
// of nodes. That list is sorted only after all three kinds have been merged; until then, readers of
// a merged collective may precede it. Jointer's graph is sorted after each kind.
//
// Source: torch/_inductor/fx_passes/fsdp.py (2.15), pre_bucket_fsdp_collectives. The bounds of the
// cap are torch's defaults. Deviations: those of torch_buckets.cpp.
// Cost: that of greedy_buckets.cpp, for each of the three kinds.

#include "passes/bucketing/pre_bucketing.h"

#include <algorithm>
#include <set>

#include "core/base/byte_units.h"
#include "core/base/checked.h"
#include "core/ops/collective_targets.h"
#include "passes/bucketing/fsdp_collectives.h"
#include "passes/bucketing/greedy_buckets.h"
#include "passes/support/group_twin.h"

namespace jointer {
namespace {

using Number = std::uint32_t;

constexpr double kMinMiB = 10, kMaxMiB = 500;

struct FsdpGroups {
  std::set<StringId> names;
  std::int64_t size = 0;  // number of ranks in the first group
};

StringId group_name(const Graph& graph, NodeId start) {
  const Argument* name = group_argument(graph, graph.node(start));
  return name != nullptr ? name->text() : StringId{};
}

FsdpGroups find_groups(const Graph& graph, PartId part) {
  FsdpGroups groups;
  for (const std::string_view target : {kAllGatherTarget, kAllGatherOutTarget})
    for (const NodeId id : graph.order()) {
      const Node& n = graph.node(id);
      if (n.part != part || n.kind != NodeKind::call || graph.target(n) != target ||
          !is_fsdp_all_gather(graph, id))
        continue;
      const StringId name = group_name(graph, id);
      if (!name) continue;
      if (groups.names.empty()) groups.size = graph.group_size(n);
      groups.names.insert(name);
    }
  return groups;
}

std::int64_t cap_bytes(const PreBucketingOptions& options, std::int64_t group_size) {
  const double busy =
      static_cast<double>(
          torch_saturation_bytes(group_size, NcclCall::all_gather, options.links).value_or(0)) /
      kMiB;
  const double mib = options.cap_mib.value_or(std::clamp(busy, kMinMiB, kMaxMiB));
  return saturating_whole(mib * kMiB);
}

class PreBucketing {
 public:
  PreBucketing(const Graph& graph, PartId part, const PreBucketingOptions& options,
               BucketNames& names)
      : part_(part), options_(options), names_(names), done_{.graph = graph, .buckets = {}} {}

  Result<std::optional<PreBucketed>> run() {
    groups_ = find_groups(done_.graph, part_);
    if (groups_.names.empty()) return std::nullopt;
    done_.cap_bytes = cap_bytes(options_, groups_.size);
    for (const CollectiveKind kind :
         {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce})
      JOINTER_CHECK(merge(kind));
    if (done_.buckets.empty()) return std::nullopt;
    return std::move(done_);
  }

 private:
  Result<void> merge(CollectiveKind kind) {
    const Graph& graph = done_.graph;
    const Dependencies dependencies(graph);
    const std::vector<NodeCost> costs(graph.node_count());  // not used
    BucketRules rules(BucketDtypes::one);
    rules.takes_buckets = options_.form.has_value();
    const OverlapGraph half(graph, part_, dependencies, costs, rules);
    const Users users(graph);
    OverlapPlan plan = plan_as_given(half);
    if (!list_.empty()) plan.schedule.order = places_of_list(half);
    plan.bucketing = find_greedily(half, plan.schedule.order, kind, done_.cap_bytes, [&](Number c) {
      return is_fsdp(graph, users, half.nodes[half.collectives[c].start],
                     half.nodes[half.collectives[c].wait]);
    });
    if (plan.bucketing.buckets.empty()) return {};
    JOINTER_TRY(PlannedGraph merged, build(half, dependencies, plan, kind));
    for (std::size_t i = 0; i < merged.merged.size(); ++i) {
      PreBucketed::Bucket bucket{.start = merged.merged[i].start, .members = {}};
      for (const Number c : plan.bucketing.buckets[i])
        bucket.members.push_back(half.nodes[half.collectives[c].start]);
      done_.buckets.push_back(std::move(bucket));
    }
    done_.graph = std::move(merged.graph);
    list_ = std::move(merged.list);
    return {};
  }

  [[nodiscard]] std::vector<Place> places_of_list(const OverlapGraph& half) const {
    std::vector<Place> places;
    for (const NodeId id : list_)
      if (half.place_of[id.index()] != kNoPlace) places.push_back(half.place_of[id.index()]);
    return places;
  }

  [[nodiscard]] bool is_fsdp(const Graph& graph, const Users& users, NodeId start,
                             NodeId wait) const {
    switch (graph.op(graph.node(start)).collective) {
      case CollectiveKind::all_gather:
        return is_fsdp_all_gather(graph, start);
      case CollectiveKind::reduce_scatter:
        return !users.of(wait).empty() && is_fsdp_reduce_scatter(graph, users, start);
      default:
        return groups_.names.contains(group_name(graph, start));
    }
  }

  Result<PlannedGraph> build(const OverlapGraph& half, const Dependencies& dependencies,
                             OverlapPlan& plan, CollectiveKind kind) {
    if (!options_.form) return with_plan(half, dependencies, plan, BucketDtypes::one);
    const bool reduces = kind == CollectiveKind::all_reduce;
    const TorchBuckets buckets{.form = reduces ? BucketForm::standard : *options_.form,
                               .after_last = true};
    return with_torch_plan(half, dependencies, plan, buckets, names_);
  }

  PartId part_;
  const PreBucketingOptions& options_;
  BucketNames& names_;
  FsdpGroups groups_;
  PreBucketed done_;
  std::vector<NodeId> list_;  // torch's list of nodes, if any buckets are torch's own calls
};

}  // namespace

Result<std::optional<PreBucketed>> pre_bucket_fsdp(const Graph& graph, PartId part,
                                                   const PreBucketingOptions& options,
                                                   BucketNames& names) {
  return PreBucketing(graph, part, options, names).run();
}

}  // namespace jointer
