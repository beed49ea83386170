// Computes when each rank was in each collective, on a common clock, and how long the first rank to
// arrive waited for the last.
//
// A rank's times count from the start of the step on that rank, so clocks of ranks are not
// comparable. However, no rank can leave a collective before all have entered it, and all leave at
// about the same time.
//
// Terms
//   meeting  one run of a collective: its node, and the ranks of the group that ran it.
//   offset   what a rank's clock shows when that of the group's first rank shows 0.
//   exact    (of an end) the time when the rank left the collective. Without a trace of kernels, an
//            end is that of the wait, which is exact only if the rank had to wait.
//
// Steps
//   1. Find the meetings. A group in the capture stands for the groups of all ranks
//      (group_of_rank).
//   2. For every rank of a group and the group's first rank, take the difference between their ends
//      of each meeting, or only of the meetings where both ends are exact if there are any. The
//      offset is the median, since single collectives may end late on a rank. It is moved into the
//      range in which neither rank leaves any meeting before the other has entered it.
//   3. Move the spans to the clock of the first rank.
//
// Cost: linear in the number of collectives times ranks, apart from the sorting for the medians.

#include "core/bench/skew.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "core/base/median.h"
#include "core/bench/rank_measurement.h"
#include "core/graph/group_of_rank.h"

namespace jointer {
namespace {

// If a wait takes less time, the collective had already finished.
constexpr std::int64_t kMinBlockedNs = 20'000;

struct ClockOffset {
  std::int64_t ns = 0, error_ns = 0;
};

struct Meeting {
  std::uint32_t position = 0;       // of the collective
  std::vector<std::int32_t> ranks;  // ascending
};

bool waits_for_all(CollectiveKind kind) {
  return kind != CollectiveKind::none && kind != CollectiveKind::broadcast;
}

// The times of one rank by position.
class RankTimes {
 public:
  RankTimes(const RankMeasured& measured, std::size_t nodes)
      : times_(nodes, nullptr), is_traced_(!measured.kernels.empty()) {
    for (const NodeTime& time : measured.nodes)
      if (time.position < nodes) times_[time.position] = &time;
  }

  [[nodiscard]] const NodeTime* at(std::uint32_t position) const { return times_[position]; }
  // True if the end of the collective that `wait` waits for is exact.
  [[nodiscard]] bool is_exact(std::optional<std::uint32_t> wait) const {
    if (is_traced_) return true;
    const NodeTime* time = wait ? times_[*wait] : nullptr;
    return time != nullptr && time->end_ns - time->start_ns >= kMinBlockedNs;
  }

 private:
  std::vector<const NodeTime*> times_;
  bool is_traced_;
};

class SkewFinder {
 public:
  SkewFinder(const Graph& graph, std::span<const RankResult> ranks)
      : graph_(graph), world_size_(static_cast<int>(ranks.size())), waits_(graph.order().size()) {
    const RankResult* first = nullptr;
    for (const RankResult& rank : ranks) {
      if (!rank.measured || rank.measured->nodes.empty()) continue;
      if (first == nullptr) first = &rank;
      if (ran_same_graph(rank, *first))
        times_.emplace(rank.rank, RankTimes(*rank.measured, graph.order().size()));
    }
    for (std::uint32_t at = 0; at < graph.order().size(); ++at) {
      const Node& node = graph.node(graph.order()[at]);
      if (!graph.is_wait(node)) continue;
      const NodeId start = graph.collective_of_wait(node);
      if (!start) continue;
      std::optional<std::uint32_t>& wait = waits_[graph.position(start)];
      if (!wait) wait = at;
    }
  }

  SkewReport find() {
    SkewReport report;
    if (times_.size() < 2) return report;
    const std::vector<Meeting> meetings = find_meetings();
    std::map<std::pair<int, int>, std::vector<std::uint32_t>> shared;  // positions, by two ranks
    for (const Meeting& meeting : meetings)
      for (const std::int32_t rank : std::span(meeting.ranks).subspan(1))
        shared[{meeting.ranks.front(), rank}].push_back(meeting.position);
    std::map<std::pair<int, int>, ClockOffset> offsets;
    for (const auto& [pair, positions] : shared) {
      const ClockOffset& offset = offsets[pair] = offset_of(pair.first, pair.second, positions);
      report.clock_error_ns = std::max(report.clock_error_ns, offset.error_ns);
    }
    for (const Meeting& meeting : meetings) report.collectives.push_back(skew_of(meeting, offsets));
    std::ranges::stable_sort(report.collectives, std::greater<>(), &CollectiveSkew::skew_ns);
    return report;
  }

 private:
  [[nodiscard]] std::vector<Meeting> find_meetings() const {
    std::vector<Meeting> meetings;
    std::map<GroupId, std::vector<std::vector<std::int32_t>>> groups;
    for (std::uint32_t at = 0; at < graph_.order().size(); ++at) {
      const Node& node = graph_.node(graph_.order()[at]);
      if (node.kind != NodeKind::call || !node.group || !waits_for_all(graph_.op(node).collective))
        continue;
      const auto [found, is_new] = groups.try_emplace(node.group);
      if (is_new) found->second = groups_like(node.group);
      for (const std::vector<std::int32_t>& ranks : found->second)
        if (std::ranges::all_of(
                ranks, [&](std::int32_t rank) { return times_.at(rank).at(at) != nullptr; }))
          meetings.push_back({.position = at, .ranks = ranks});
    }
    return meetings;
  }

  // The groups for which this group of the capture stands: those of at least two ranks that were
  // all profiled.
  [[nodiscard]] std::vector<std::vector<std::int32_t>> groups_like(GroupId group) const {
    std::vector<std::vector<std::int32_t>> found;
    for (const auto& [rank, times] : times_) {
      auto ranks = group_of_rank(graph_.group(group).ranks, rank, world_size_);
      if (!ranks || ranks->size() < 2) continue;
      std::ranges::sort(*ranks);
      const bool is_profiled =
          std::ranges::all_of(*ranks, [&](std::int32_t member) { return times_.contains(member); });
      // Every group is found once, at its first rank.
      if (is_profiled && ranks->front() == rank) found.push_back(*std::move(ranks));
    }
    return found;
  }

  [[nodiscard]] ClockOffset offset_of(int first, int other,
                                      const std::vector<std::uint32_t>& positions) const {
    const RankTimes &a = times_.at(first), &b = times_.at(other);
    std::int64_t min = std::numeric_limits<std::int64_t>::min();
    std::int64_t max = std::numeric_limits<std::int64_t>::max();
    std::vector<std::int64_t> all, exact;
    for (const std::uint32_t position : positions) {
      const NodeTime &x = *a.at(position), &y = *b.at(position);
      min = std::max(min, y.start_ns - x.end_ns);
      max = std::min(max, y.end_ns - x.start_ns);
      all.push_back(y.end_ns - x.end_ns);
      if (a.is_exact(waits_[position]) && b.is_exact(waits_[position])) exact.push_back(all.back());
    }
    std::vector<std::int64_t>& used = exact.empty() ? all : exact;
    ClockOffset offset{.ns = median(used)};
    // If ends are not exact, the bounds may contradict each other; the median then stays as it is.
    if (min <= max) offset.ns = std::clamp(offset.ns, min, max);
    for (std::int64_t& difference : used) difference = std::abs(difference - offset.ns);
    offset.error_ns = median(std::move(used));
    return offset;
  }

  [[nodiscard]] CollectiveSkew skew_of(
      const Meeting& meeting, const std::map<std::pair<int, int>, ClockOffset>& offsets) const {
    CollectiveSkew skew;
    skew.node = graph_.order()[meeting.position];
    for (const std::int32_t rank : meeting.ranks) {
      const auto offset = offsets.find({meeting.ranks.front(), rank});
      const std::int64_t ns = offset == offsets.end() ? 0 : offset->second.ns;
      const NodeTime& time = *times_.at(rank).at(meeting.position);
      skew.spans.push_back(
          {.rank = rank, .start_ns = time.start_ns - ns, .end_ns = time.end_ns - ns});
    }
    const auto [first, last] = std::ranges::minmax_element(skew.spans, {}, &RankSpan::start_ns);
    const auto first_end = std::ranges::min_element(skew.spans, {}, &RankSpan::end_ns);
    skew.last_rank = last->rank;
    skew.skew_ns = last->start_ns - first->start_ns;
    skew.transfer_ns = std::max<std::int64_t>(0, first_end->end_ns - last->start_ns);
    return skew;
  }

  const Graph& graph_;
  int world_size_;
  std::map<int, RankTimes> times_;                   // of the profiled ranks
  std::vector<std::optional<std::uint32_t>> waits_;  // by position of the collective
};

}  // namespace

SkewReport collective_skew(const Graph& graph, std::span<const RankResult> ranks) {
  return SkewFinder(graph, ranks).find();
}

}  // namespace jointer
