// Merges a schedule's collectives into buckets so that hidden collectives stay hidden.
//
// Terms
//   timeline    of a process group: its starts and waits, and the compute (or another group's wait)
//               that may hide them, in the order of the schedule. Each event depends on the
//               previous one.
//   hiding      the dependencies that keep a collective hidden: of the node that hides it on the
//               start, and of the wait on that node.
//   bucket      collectives whose starts count as one node of the graph, and whose waits count as
//               another.
//
// Steps, for each group and each key (bucket_key.h):
//   1. If requested, or by default in a group that gathers parameters, begin with the collective
//      that is hidden least (as a share of its time) as the seed, and try the collectives near it.
//      Otherwise visit the collectives in the order of the schedule.
//   2. Try the next `distance` collectives one by one, until one would make the bucket too large or
//      20 in a row have failed. A candidate may join if it and its wait hide nothing, and if the
//      starts, waits and hiding nodes of the bucket and of the candidate do not depend on each
//      other. Then try four placements: both starts at the position of either start, and both waits
//      at the position of either wait. Every hiding node must stay between the start and the wait.
//      Because a group's collectives run in the order of their starts, no collective may be in
//      flight from before to after the interval in which another collective is hidden. Finally, the
//      merged starts and waits must not form a cycle.
//   3. Keep buckets with at least two members.
// The caller orders the new graph and preserves the dependencies of the timelines and of hiding.
//
// Source: torch/_inductor/fx_passes/overlap_preserving_bucketer.py (2.15). Torch 2.11 begins with
// the least hidden collective in every group, and tries to merge a reduce-scatter with an
// all-reduce, because their keys can be equal (`mixes_reductions`).
//
// Cost: V^2 / 16 bytes of memory for the ancestors of V nodes; a trial is linear in the number of
// nodes between the two collectives.

#include "passes/bucketing/overlap_bucketer.h"

#include <algorithm>

#include "passes/bucketing/group_timeline.h"

namespace jointer {
namespace {

using Number = std::uint32_t;  // number of a collective

std::vector<std::pair<Place, Place>> hiding_dependencies(const OverlapGraph& graph,
                                                         const OverlapSchedule& schedule) {
  std::vector<std::pair<Place, Place>> found;
  for (std::size_t c = 0; c < graph.collectives.size(); ++c) {
    if (schedule.fates[c].exposed_ns != 0) continue;
    for (const Place by : schedule.fates[c].hidden_by) {
      found.emplace_back(by, graph.collectives[c].start);
      found.emplace_back(graph.collectives[c].wait, by);
    }
  }
  return found;
}

class Bucketer {
 public:
  Bucketer(const OverlapGraph& graph, const OverlapSchedule& schedule,
           const BucketerOptions& options)
      : g_(graph),
        schedule_(schedule),
        options_(options),
        hiding_(hiding_dependencies(graph, schedule)),
        ancestors_(graph, schedule.order, hiding_),
        augmented_(graph, ancestors_),
        hides_(graph.size(), false),
        event_of_(graph.size(), TimelineEvent::kNone),
        is_taken_(graph.collectives.size(), false) {
    result_.why.assign(g_.collectives.size(), NoBucket::alone);
    result_.with.assign(g_.collectives.size(), kNever);
    for (std::uint32_t group = 0; group < g_.groups.size(); ++group)
      timelines_.emplace_back(g_, schedule_, group, augmented_);
    for (const auto& dependency : hiding_) augmented_.add(dependency.first, dependency.second);
    for (std::size_t c = 0; c < g_.collectives.size(); ++c)
      if (schedule_.fates[c].exposed_ns == 0)
        for (const Place by : schedule_.fates[c].hidden_by) hides_[by] = true;
  }

  Result<Bucketing> run(const std::function<Result<void>(double)>& proceed) {
    for (std::uint32_t group = 0; group < g_.groups.size(); ++group) {
      timeline_ = &timelines_[group];
      for (std::uint32_t e = 0; e < timeline_->events().size(); ++e)
        event_of_[timeline_->events()[e].place] = e;
      exposed_first_ = options_.exposed_first.value_or(g_.gathers_parameters[group]);
      if (!options_.only_parameter_groups || g_.gathers_parameters[group])
        for (const std::vector<Number>& alike : by_key(group)) find_buckets_of(alike);
      else
        exclude(group);
      for (const TimelineEvent& e : timeline_->events()) event_of_[e.place] = TimelineEvent::kNone;
      JOINTER_CHECK(
          proceed(static_cast<double>(group + 1) / static_cast<double>(g_.groups.size())));
    }
    return finish();
  }

  Bucketing finish() {
    for (Place p = 0; p < g_.size(); ++p)
      for (const Place dependency : augmented_.more(p))
        result_.dependencies.emplace_back(p, dependency);
    return std::move(result_);
  }

 private:
  struct Position {
    Place start, wait;
  };
  using Interval = std::pair<std::uint32_t, std::uint32_t>;

  [[nodiscard]] const OverlapCollective& collective(Number c) const { return g_.collectives[c]; }
  [[nodiscard]] const std::vector<Place>& hidden_by(Number c) const {
    return schedule_.fates[c].hidden_by;
  }
  [[nodiscard]] const TimelineEvent& event(Place p) const {
    return timeline_->events()[event_of_[p]];
  }
  [[nodiscard]] std::uint32_t position(Place p) const { return event(p).position; }

  // The group's collectives, one list per bucket key, each in the order of the waits.
  [[nodiscard]] std::vector<std::vector<Number>> by_key(std::uint32_t group) const {
    std::vector<std::vector<Number>> lists;
    std::vector<std::uint32_t> keys;
    for (Number c = 0; c < g_.collectives.size(); ++c) {
      if (collective(c).group != group || collective(c).key == kNever) continue;
      const std::uint32_t key =
          options_.mixes_reductions ? collective(c).torch_key : collective(c).key;
      const auto at = static_cast<std::size_t>(std::ranges::find(keys, key) - keys.begin());
      if (at == keys.size()) {
        keys.push_back(key);
        lists.emplace_back();
      }
      lists[at].push_back(c);
    }
    return lists;
  }

  void exclude(std::uint32_t group) {
    for (Number c = 0; c < g_.collectives.size(); ++c)
      if (collective(c).group == group) result_.why[c] = NoBucket::no_parameters;
  }

  // The fraction of the collective's time that is hidden.
  [[nodiscard]] double hidden_share(Number c) const {
    if (collective(c).ns <= 0) return 0;
    return static_cast<double>(collective(c).ns - schedule_.fates[c].exposed_ns) /
           static_cast<double>(collective(c).ns);
  }

  void refuse(Number seed, Number candidate, NoBucket why) {
    result_.why[candidate] = why;
    result_.with[candidate] = seed;
    if (result_.why[seed] != NoBucket::alone) return;
    result_.why[seed] = why;
    result_.with[seed] = candidate;
  }

  void find_buckets_of(std::vector<Number> alike) {
    std::vector<double> share(g_.collectives.size());
    if (exposed_first_)
      for (const Number c : alike) share[c] = hidden_share(c);
    std::ranges::sort(alike, {}, [&](Number c) {
      return std::pair(share[c], ancestors_.rank(collective(c).start));
    });
    for (std::size_t i = 0; i < alike.size(); ++i) {
      if (is_taken_[alike[i]]) continue;
      if (hides_others(alike[i])) {
        result_.why[alike[i]] = NoBucket::hides_others;
        continue;
      }
      fill_bucket(alike, i);
    }
  }

  [[nodiscard]] bool hides_others(Number c) const {
    return hides_[collective(c).start] || hides_[collective(c).wait];
  }

  void fill_bucket(const std::vector<Number>& alike, std::size_t seed_at) {
    constexpr int kMaxFailures = 20;
    constexpr std::int64_t kReach = 20;  // in positions, for exposed_first
    const Number seed = alike[seed_at];
    std::vector<Number> bucket{seed};
    is_taken_[seed] = true;
    std::int64_t bytes = collective(seed).bytes;
    const std::int64_t seed_rank = ancestors_.rank(collective(seed).start);
    int failures = 0;
    const std::size_t end =
        std::min(alike.size(), seed_at + 1 + static_cast<std::size_t>(options_.distance));
    for (std::size_t i = seed_at + 1; i < end && failures < kMaxFailures; ++i) {
      const Number candidate = alike[i];
      if (bytes + collective(candidate).bytes > options_.max_bytes) {
        refuse(seed, candidate, NoBucket::too_large);
        break;
      }
      if (is_taken_[candidate]) continue;
      if (exposed_first_ && std::abs(std::int64_t{ancestors_.rank(collective(candidate).start)} -
                                     seed_rank) > kReach) {
        refuse(seed, candidate, NoBucket::far);
        continue;
      }
      if (const NoBucket why = try_to_add(bucket, candidate); why != NoBucket::none) {
        refuse(seed, candidate, why);
        ++failures;
        continue;
      }
      bucket.push_back(candidate);
      bytes += collective(candidate).bytes;
      is_taken_[candidate] = true;
      failures = 0;
    }
    if (bucket.size() < 2) return;
    for (const Number c : bucket) result_.why[c] = NoBucket::none;
    result_.buckets.push_back(std::move(bucket));
  }

  NoBucket try_to_add(const std::vector<Number>& bucket, Number candidate) {
    if (hides_others(candidate)) return NoBucket::hides_others;
    if (must_be_apart(bucket, candidate)) return NoBucket::needed;
    const OverlapCollective& seed = collective(bucket.front());
    const OverlapCollective& other = collective(candidate);
    NoBucket why = NoBucket::cycle;
    for (const Position at :
         {Position{seed.start, other.wait}, Position{seed.start, seed.wait},
          Position{other.start, other.wait}, Position{other.start, seed.wait}}) {
      why = try_position(bucket, candidate, at);
      if (why == NoBucket::none) break;
    }
    return why;
  }

  [[nodiscard]] bool must_be_apart(const std::vector<Number>& bucket, Number candidate) const {
    const OverlapCollective& other = collective(candidate);
    const auto related = [&](Place a, Place b) {
      return ancestors_.has(a, b) || ancestors_.has(b, a);
    };
    for (const Number c : bucket) {
      const OverlapCollective& member = collective(c);
      if (related(member.start, other.start) || related(member.wait, other.wait)) return true;
      for (const Place by : hidden_by(c))
        if (ancestors_.has(by, other.wait)) return true;
      for (const Place by : hidden_by(candidate))
        if (ancestors_.has(by, member.wait)) return true;
    }
    return false;
  }

  NoBucket try_position(const std::vector<Number>& bucket, Number candidate, Position at) {
    if (!keeps_hiding(bucket, candidate, at)) return NoBucket::hiding;
    const OverlapCollective& seed = collective(bucket.front());
    const OverlapCollective& other = collective(candidate);
    const Place moved_start = at.start == seed.start ? other.start : seed.start;
    const auto start_event = event_of_[moved_start];
    const auto start_between = timeline_->remove(start_event, moved_start, augmented_);
    if (augmented_.has_path(seed.start, other.start) ||
        augmented_.has_path(other.start, seed.start)) {
      timeline_->restore(start_event, moved_start, start_between, augmented_);
      return NoBucket::cycle;
    }
    augmented_.merge(seed.start, other.start);
    const Place moved_wait = at.wait == seed.wait ? other.wait : seed.wait;
    const auto wait_event = event_of_[moved_wait];
    const auto wait_between = timeline_->remove(wait_event, moved_wait, augmented_);
    if (augmented_.has_path(seed.wait, other.wait) || augmented_.has_path(other.wait, seed.wait)) {
      timeline_->restore(wait_event, moved_wait, wait_between, augmented_);
      augmented_.unmerge(other.start);
      timeline_->restore(start_event, moved_start, start_between, augmented_);
      return NoBucket::cycle;
    }
    augmented_.merge(seed.wait, other.wait);
    event_of_[seed.start] = event_of_[other.start] = event_of_[at.start];
    event_of_[seed.wait] = event_of_[other.wait] = event_of_[at.wait];
    return NoBucket::none;
  }

  bool keeps_hiding(const std::vector<Number>& bucket, Number candidate, Position at) {
    const std::uint32_t start = position(at.start), wait = position(at.wait);
    executions_.assign(1, {start, wait});
    hidings_.clear();
    const auto add_own = [&](Number c) {
      for (const Place by : hidden_by(c)) {
        const std::uint32_t compute = position(by);
        if (compute <= start || compute >= wait) return false;
        hidings_.emplace_back(start, compute);
      }
      return true;
    };
    if (!add_own(candidate)) return false;
    for (const Number c : bucket)
      if (!add_own(c)) return false;

    const OverlapCollective& seed = collective(bucket.front());
    const OverlapCollective& other = collective(candidate);
    const std::uint32_t last_start = std::max(position(other.start), position(seed.start));
    const std::uint32_t first_wait = std::min(position(other.wait), position(seed.wait));
    const auto& events = timeline_->events();
    for (std::uint32_t e = event(at.start).next;
         e != TimelineEvent::kNone && events[e].position < last_start; e = events[e].next)
      add_others(bucket, candidate, events[e]);
    for (std::uint32_t e = event(at.wait).previous;
         e != TimelineEvent::kNone && events[e].position > first_wait; e = events[e].previous)
      add_others(bucket, candidate, events[e]);
    for (const Interval& hiding : hidings_)
      for (const Interval& execution : executions_)
        if (execution.first < hiding.first && hiding.second < execution.second) return false;
    return true;
  }

  // If `e` starts or ends a collective outside the bucket, records when that collective runs and is
  // hidden.
  void add_others(const std::vector<Number>& bucket, Number candidate, const TimelineEvent& e) {
    if (e.is_compute) return;
    const std::int32_t found =
        g_.start_of[e.place] >= 0 ? g_.start_of[e.place] : g_.wait_of[e.place];
    const auto c = static_cast<Number>(found);
    if (c == candidate || std::ranges::find(bucket, c) != bucket.end()) return;
    const std::uint32_t start = position(collective(c).start);
    executions_.emplace_back(start, position(collective(c).wait));
    for (const Place by : hidden_by(c)) hidings_.emplace_back(start, position(by));
  }

  const OverlapGraph& g_;
  const OverlapSchedule& schedule_;
  const BucketerOptions& options_;
  Bucketing result_;
  std::vector<std::pair<Place, Place>> hiding_;
  Ancestors ancestors_;
  AugmentedGraph augmented_;
  std::vector<GroupTimeline> timelines_;
  GroupTimeline* timeline_ = nullptr;    // of the current group
  bool exposed_first_ = false;           // in the current group
  std::vector<bool> hides_;              // by position
  std::vector<std::uint32_t> event_of_;  // by position: index in timeline_
  std::vector<bool> is_taken_;           // by collective
  std::vector<Interval> executions_, hidings_;
};

}  // namespace

void Bucketing::leave(const std::vector<std::uint32_t>& bucket, NoBucket reason) {
  for (const std::uint32_t c : bucket) {
    why[c] = reason;
    with[c] = bucket[c == bucket[0] ? 1 : 0];
  }
}

Result<Bucketing> find_buckets(const OverlapGraph& graph, const OverlapSchedule& schedule,
                               const BucketerOptions& options,
                               const std::function<Result<void>(double)>& proceed) {
  return Bucketer(graph, schedule, options).run(proceed);
}

Bucketing without_buckets(const OverlapGraph& graph, const OverlapSchedule& schedule) {
  return Bucketer(graph, schedule, {}).finish();
}

}  // namespace jointer
