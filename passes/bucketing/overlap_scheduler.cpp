// Orders a half so that collectives overlap with compute.
//
// Terms
//   compute node  a node whose operator has an entry in torch's FLOP registry.
//   on the path   a compute node, or a node that a compute node depends on. Its rank is the index
//                 of the first such compute node.
//   in flight     started and not yet waited for. A collective is exposed for the part of its time
//                 that nothing has hidden so far.
//
// Steps, until everything has run:
//   1. If too many bytes are in flight, wait for the oldest collective.
//   2. The next node is the ready node on the path with the lowest rank. Among nodes of equal rank,
//      nodes that lead straight to a collective come first and exposed waits last; remaining ties
//      are decided by the original order. Nodes off the path run if no node on it is ready, or
//      in between: a wait once its collective is hidden (or memory is short); collectives with the
//      same key, together, once they add up to `off_bucket_bytes`; and nodes that a reduce-scatter
//      depends on, once the schedule has passed their original positions.
//   3. A node that takes time hides as much as possible of the collectives in flight, separately
//      for each process group. If some of its time remains, collectives start early to use it.
//      Those that the next compute node depends on come first, together with collectives that could
//      share their buckets. A collective may start if it depends on no compute, no other collective
//      and no wait that would become exposed, and if the memory that it holds until its use stays
//      within the budget.
//   4. A wait first ends all collectives that its group started earlier. The time for which its own
//      collective is still exposed then hides collectives of other groups in the same way.
//
// Live memory is counted as in torch (torch_memory.h); this is only an estimate for the new order,
// so the caller measures the result.
//
// Rules of 2.15
//   - In step 3, among collectives that are used equally early, those that fill most of the
//     remaining time come first.
//   - `distance` counts the collectives that could start.
//   - During a wait, its collective and those that its group started earlier may not be hidden or
//     forced to end, and no collective that starts may depend on their waits.
// Rules of 2.11
//   - Collectives are tried in the original order.
//   - `distance` counts all collectives that have not started.
//   - Collectives off the path do not wait for each other.
//
// Source: torch/_inductor/fx_passes/overlap_scheduling.py (2.15 and 2.11), class OverlapScheduler.
// With the same costs, the order is the same as torch's.
// Deviations
//   - An all-reduce and a reduce-scatter, which never share a bucket, do not save each other a
//     start-up. In torch, the two may have the same key; `is_torch` uses torch's keys.
//   - A collective is never tried while something that it depends on cannot be started. torch
//     forces other waits first, and so does `is_torch`.
//   - Nodes for which an assertion of torch would fail are skipped.
//
// Cost: torch keeps the set of all ancestors of every node. Here a search backward from a
// collective, through nodes that have not run, finds the nodes that must run before it. The node
// that blocks a collective is remembered until that node has run. For V nodes and d candidates, the
// cost is V log V + V d in the worst case.

#include "passes/bucketing/overlap_scheduler.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/base/checked.h"
#include "passes/bucketing/python_heap.h"

namespace jointer {
namespace {

using Heap = std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>>;
constexpr std::uint64_t kPlaceMask = 0xffffffffU;

class Scheduler {
 public:
  Scheduler(const OverlapGraph& graph, const TorchStorages& storages, const OverlapOptions& options)
      : g_(graph),
        options_(options),
        memory_(storages),
        is_done_(graph.size(), false),
        is_held_(graph.size(), false),
        waiting_for_(graph.size(), 0),
        marks_(graph.size(), 0),
        is_started_(graph.collectives.size(), false),
        next_(graph.collectives.size() + 1),
        blocker_(graph.collectives.size(), kNoPlace),
        full_at_(graph.collectives.size(), kNever),
        is_ending_(graph.collectives.size(), false),
        pre_fetched_(graph.compute.size(), 0) {
    measure(storages);
    for (Place p = 0; p < g_.size(); ++p)
      waiting_for_[p] = static_cast<std::uint32_t>(g_.inputs.of(p).size());
    for (std::size_t c = 0; c <= g_.collectives.size(); ++c)
      next_[c] = static_cast<std::uint32_t>(c);
    result_.fates.resize(g_.collectives.size());
    for (std::size_t c = 0; c < g_.collectives.size(); ++c)
      result_.fates[c].exposed_ns = g_.collectives[c].ns;
    result_.order.reserve(g_.size());
  }

  Result<OverlapSchedule> run(const std::function<Result<void>(double)>& proceed) {
    for (Place p = 0; p < g_.size(); ++p)
      if (waiting_for_[p] == 0) make_ready(p);
    constexpr std::size_t kEvery = 512;
    std::size_t asked = 0;
    while (!on_path_.empty() || !off_path_.empty()) {
      if (result_.order.size() >= asked) {
        asked = result_.order.size() + kEvery;
        JOINTER_CHECK(
            proceed(static_cast<double>(result_.order.size()) / static_cast<double>(g_.size())));
      }
      if (!in_flight_.empty() && in_flight_bytes_ >= options_.max_in_flight) {
        handle_wait(in_flight_.front());
        continue;
      }
      for (const Place p : take_next()) {
        if (is_done_[p]) continue;
        if (g_.start_of[p] >= 0)
          handle_start(number(g_.start_of[p]));
        else if (g_.wait_of[p] >= 0)
          handle_wait(number(g_.wait_of[p]), p);
        else
          handle_other(p);
        if (is_on_path(p))
          last_on_path_ = std::max(last_on_path_, std::int64_t{p});
        else if (g_.start_of[p] >= 0)
          ready_bytes(number(g_.start_of[p])) -= collective(number(g_.start_of[p])).bytes;
      }
    }
    return std::move(result_);
  }

 private:
  using Number = std::uint32_t;  // number of a collective
  struct Tried {
    std::uint32_t first_by = 0;  // urgency, or the position of its group
    std::uint64_t need = 0;
    Number number = 0;
  };
  static Number number(std::int32_t n) { return static_cast<Number>(n); }

  [[nodiscard]] bool is_on_path(Place p) const { return g_.first_compute[p] != kNever; }
  [[nodiscard]] OverlapFate& fate(Number c) { return result_.fates[c]; }
  [[nodiscard]] const OverlapCollective& collective(Number c) const { return g_.collectives[c]; }

  // Measures the original order: its peak, and the maximum of live bytes between consecutive
  // compute nodes.
  void measure(const TorchStorages& storages) {
    TorchMemory memory(storages);
    std::int64_t peak = 0, max_bytes = 0;
    for (Place p = 0; p < g_.size(); ++p) {
      memory.run(p);
      max_bytes = std::max(max_bytes, memory.now());
      peak = std::max(peak, memory.now());
      if (!g_.is_compute[p]) continue;
      before_compute_.push_back(max_bytes);
      max_bytes = memory.now();
    }
    result_.limit_bytes = saturating_add(peak, options_.max_bytes_more);
  }

  void make_ready(Place p) {
    if (is_on_path(p)) {
      std::uint64_t local = 1;  // 0: leads to a collective; 2: an exposed wait
      if (g_.wait_of[p] >= 0)
        local = fate(number(g_.wait_of[p])).exposed_ns != 0 ? 2 : 1;
      else if (leads_to_start(p))
        local = 0;
      on_path_.push(std::uint64_t{g_.first_compute[p]} << 34U | local << 32U | p);
    } else {
      off_path_.push(std::uint64_t{g_.feeds_reduce_scatter[p] ? 0U : 1U} << 32U | p);
      if (g_.start_of[p] >= 0)
        ready_bytes(number(g_.start_of[p])) += collective(number(g_.start_of[p])).bytes;
    }
  }

  // The total bytes of the off-path collectives with the same key as `c` that are ready to start.
  std::int64_t& ready_bytes(Number c) { return ready_bytes_[collective(c).schedule_key]; }

  // True if a chain of cheap nodes, each with one reader and one input, leads from `p` to a
  // collective that has not started.
  [[nodiscard]] bool leads_to_start(Place p) const {
    for (;;) {
      const auto users = g_.users.of(p);
      if (users.size() != 1 || g_.inputs.of(users.front()).size() != 1) return false;
      const Place user = users.front();
      if (g_.start_of[user] >= 0 && !is_started_[number(g_.start_of[user])]) return true;
      if (!g_.is_cheap[user]) return false;
      p = user;
    }
  }

  std::vector<Place> take_next() {
    if (!off_path_.empty()) {
      const auto p = static_cast<Place>(off_path_.top() & kPlaceMask);
      const bool gathers = options_.off_bucket_bytes && g_.start_of[p] >= 0;
      bool takes = false;
      if (on_path_.empty() || is_done_[p])
        takes = true;
      else if (g_.wait_of[p] >= 0)
        takes = fate(number(g_.wait_of[p])).exposed_ns == 0 || memory_.now() > result_.limit_bytes;
      else if (gathers)
        takes = ready_bytes(number(g_.start_of[p])) >= *options_.off_bucket_bytes;
      else if (g_.feeds_reduce_scatter[p])
        takes = p <= last_on_path_;
      if (takes) {
        off_path_.pop();
        return gathers ? with_alike(p) : std::vector<Place>{p};
      }
    }
    const auto p = static_cast<Place>(on_path_.top() & kPlaceMask);
    on_path_.pop();
    return {p};
  }

  // Returns `p` and other off-path collectives with the same key that are ready to start, up to
  // `off_bucket_bytes` in total.
  std::vector<Place> with_alike(Place p) {
    const OverlapCollective& first = collective(number(g_.start_of[p]));
    std::vector<Place> taken{p};
    std::vector<std::size_t> indices;
    std::int64_t bytes = first.bytes;
    for (std::size_t i = 0; i < off_path_.items().size(); ++i) {
      const auto q = static_cast<Place>(off_path_.items()[i] & kPlaceMask);
      if (is_done_[q] || g_.start_of[q] < 0) continue;
      const OverlapCollective& other = collective(number(g_.start_of[q]));
      if (other.schedule_key != first.schedule_key ||
          bytes + other.bytes > *options_.off_bucket_bytes)
        continue;
      taken.push_back(q);
      bytes += other.bytes;
      indices.push_back(i);
    }
    off_path_.erase(indices);
    return taken;
  }

  void schedule(Place p) {
    is_done_[p] = true;
    result_.order.push_back(p);
    memory_.run(p);
    for (const Place user : g_.users.of(p))
      if (--waiting_for_[user] == 0) make_ready(user);
  }

  // True if `c` could share a bucket with `other`, which would save a start-up.
  [[nodiscard]] bool counts_as_alike(Number c, Number other) const {
    return options_.is_torch ? collective(c).torch_key == collective(other).torch_key
                             : collective(c).schedule_key == collective(other).schedule_key;
  }

  void handle_start(Number c) {
    if (!options_.latency_ns.empty() && collective(c).schedule_key != kNever &&
        std::ranges::any_of(in_flight_, [&](Number other) { return counts_as_alike(c, other); }))
      fate(c).exposed_ns -= std::min(fate(c).exposed_ns, options_.latency_ns[c]);
    in_flight_.push_back(c);
    in_flight_bytes_ += collective(c).bytes;
    is_started_[c] = true;
    next_[c] = c + 1;
    is_stale_ = true;
    schedule(collective(c).start);
  }

  [[nodiscard]] bool is_in_flight(Number c) const {
    return std::ranges::find(in_flight_, c) != in_flight_.end();
  }

  void handle_wait(Number c) { handle_wait(c, collective(c).wait); }

  // Ends the collective at one of its waits.
  void handle_wait(Number c, Place wait) {
    if (!is_in_flight(c)) {
      // A collective with several waits may already have ended at another wait.
      if (!is_done_[wait]) schedule(wait);
      return;
    }
    std::vector<Number> earlier;
    for (const Number other : in_flight_) {
      if (other == c) break;
      if (collective(other).group == collective(c).group) earlier.push_back(other);
    }
    is_ending_[c] = true;
    ++ending_;
    end(c, wait, earlier);
    is_ending_[c] = false;
    --ending_;
  }

  void end(Number c, Place wait, const std::vector<Number>& earlier) {
    for (const Number other : earlier)
      if (is_in_flight(other)) handle_wait(other);
    if (!is_in_flight(c)) {
      if (!is_done_[wait]) schedule(wait);
      return;
    }
    if (const std::int64_t exposed = fate(c).exposed_ns; exposed > 0) {
      is_held_[wait] = true;
      std::vector<std::int64_t> left = hide_in_flight(wait, exposed, collective(c).group);
      start_early(wait, left, collective(c).group);
      is_held_[wait] = false;
      if (!is_in_flight(c)) {
        if (!is_done_[wait]) schedule(wait);
        return;
      }
    }
    in_flight_bytes_ -= collective(c).bytes;
    in_flight_.erase(std::ranges::find(in_flight_, c));
    // If the collective returns a list, the wait reads a getitem that must run first.
    for (const Place input : g_.inputs.of(wait))
      if (!is_done_[input]) schedule(input);
    schedule(wait);
  }

  void handle_other(Place p) {
    const auto time =
        options_.compute_multiplier == 1
            ? g_.ns[p]
            : saturating_round(static_cast<double>(g_.ns[p]) * options_.compute_multiplier);
    if (time > 0) {
      is_held_[p] = true;
      std::vector<std::int64_t> left = hide_in_flight(p, time, kNever);
      start_early(p, left, kNever);
      is_held_[p] = false;
    }
    schedule(p);
    if (g_.is_compute[p]) {
      ++compute_done_;
      is_stale_ = true;
    }
  }

  void hide(Number c, Place by, std::int64_t ns) {
    fate(c).exposed_ns -= ns;
    auto& hidden_by = fate(c).hidden_by;
    if (hidden_by.empty() || hidden_by.back() != by) hidden_by.push_back(by);
  }

  // Lets `by` hide collectives in flight, for up to `time` in each group except `without`. Returns
  // the time that remains for each group; 0 for `without`.
  std::vector<std::int64_t> hide_in_flight(Place by, std::int64_t time, std::uint32_t without) {
    std::vector<std::int64_t> left(g_.groups.size(), time);
    if (without != kNever) left[without] = 0;
    for (const Number c : in_flight_) {
      std::int64_t& time_left = left[collective(c).group];
      if (is_new() && is_ending_[c]) continue;
      if (fate(c).exposed_ns == 0 || time_left <= 0) continue;
      const std::int64_t ns = std::min(fate(c).exposed_ns, time_left);
      hide(c, by, ns);
      time_left -= ns;
    }
    return left;
  }

  [[nodiscard]] bool is_new() const { return options_.rules == OverlapRules::torch_2_15; }

  // True if the wait of `c` would end a collective that another wait is already ending.
  [[nodiscard]] bool would_reenter(Number c) const {
    if (!is_new() || ending_ == 0) return false;
    if (is_ending_[c]) return true;
    if (!is_in_flight(c)) return false;
    for (const Number other : in_flight_) {
      if (other == c) break;
      if (collective(other).group == collective(c).group && is_ending_[other]) return true;
    }
    return false;
  }

  // --- Starting collectives early ---

  // The collectives that could use some of the remaining time, in the order of torch 2.15's rules.
  std::vector<Number> candidates_for(const std::vector<std::int64_t>& left) {
    std::vector<Number> found;
    for (Number c = first_from(0);
         c < g_.collectives.size() && std::cmp_less(found.size(), options_.distance);
         c = first_from(c + 1)) {
      const std::uint32_t rank = g_.first_compute[collective(c).start];
      const bool is_far = rank != kNever && std::int64_t{rank} - std::int64_t{compute_done_} >
                                                options_.compute_pre_fetch;
      if (left[collective(c).group] > 0 && !is_far) found.push_back(c);
    }
    using Priority = std::tuple<int, std::uint32_t, std::int64_t, Place>;
    const auto priority = [&](Number c) {
      const Place start = collective(c).start;
      return Priority{urgency(c), g_.first_compute[start],
                      -std::min(left[collective(c).group], fate(c).exposed_ns), start};
    };
    std::vector<std::pair<Priority, Number>> order;
    for (const Number c : found) order.emplace_back(priority(c), c);
    std::ranges::sort(order);
    if (options_.groups_buckets) {
      // Collectives with the same key follow the first of them; keys are ordered by their first
      // collectives.
      std::unordered_map<std::uint32_t, std::size_t> first_of;
      for (std::size_t i = 0; i < order.size(); ++i)
        first_of.try_emplace(collective(order[i].second).schedule_key, i);
      std::ranges::stable_sort(order, {}, [&](const auto& each) {
        return first_of.at(collective(each.second).schedule_key);
      });
    }
    for (std::size_t i = 0; i < order.size(); ++i) found[i] = order[i].second;
    return found;
  }

  // The next collectives to try, in the order of torch 2.11's rules.
  const std::vector<Number>& candidates() {
    if (!is_stale_) return candidates_;
    is_stale_ = false;
    tried_.clear();
    std::int64_t seen = 0;
    for (Number c = first_from(0); c < g_.collectives.size(); c = first_from(c + 1)) {
      if (seen++ > options_.distance) break;
      const std::uint32_t rank = g_.first_compute[collective(c).start];
      if (rank != kNever &&
          std::int64_t{rank} - std::int64_t{compute_done_} > options_.compute_pre_fetch)
        continue;
      tried_.push_back(
          {.first_by = static_cast<std::uint32_t>(urgency(c)), .need = need(c), .number = c});
    }
    if (options_.groups_buckets) group_candidates();
    std::ranges::sort(tried_, {},
                      [](const Tried& each) { return std::pair(each.first_by, each.need); });
    candidates_.clear();
    for (const Tried& each : tried_) candidates_.push_back(each.number);
    return candidates_;
  }

  Number first_from(Number c) {
    Number found = c;
    while (next_[found] != found) found = next_[found];
    while (next_[c] != found && c != found) {
      const Number step = next_[c];
      next_[c] = found;
      c = step;
    }
    return found;
  }

  [[nodiscard]] std::uint64_t need(Number c) const {
    const Place start = collective(c).start;
    return std::uint64_t{g_.first_compute[start]} << 32U | start;
  }
  [[nodiscard]] int urgency(Number c) const {
    const Place start = collective(c).start;
    if (g_.first_compute[start] == compute_done_ + 1) return 0;
    if (!is_on_path(start)) return g_.feeds_reduce_scatter[start] ? 1 : 3;
    return 2;
  }

  // Makes collectives that could share a bucket adjacent. Groups that are used earlier come first;
  // ties go to larger groups, then to groups with the member that would be tried first.
  void group_candidates() {
    struct Group {
      std::uint32_t key = 0;
      std::int64_t size = 0;
      std::uint64_t min_need = 0;
      std::pair<std::uint32_t, std::uint64_t> first;  // smallest urgency and need of a member
      std::uint32_t place = 0;
    };
    std::vector<Group> groups;
    std::vector<std::uint32_t> group_of;
    for (const Tried& each : tried_) {
      const std::uint32_t key = collective(each.number).schedule_key;
      const std::pair at{each.first_by, each.need};
      auto group = std::ranges::find_if(groups, [&](const Group& g) { return g.key == key; });
      if (group == groups.end())
        group = groups.insert(group, {.key = key, .min_need = each.need, .first = at});
      ++group->size;
      group->min_need = std::min(group->min_need, each.need);
      group->first = std::min(group->first, at);
      group_of.push_back(static_cast<std::uint32_t>(group - groups.begin()));
    }
    std::vector<std::uint32_t> order(groups.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto priority = [&](std::uint32_t i) {
      const Group& g = groups[i];
      return std::tuple(g.min_need >> 32U, -g.size, g.first);
    };
    std::ranges::sort(order, {}, priority);
    for (std::uint32_t i = 0; i < order.size(); ++i) groups[order[i]].place = i;
    for (std::size_t i = 0; i < tried_.size(); ++i) tried_[i].first_by = groups[group_of[i]].place;
  }

  void start_early(Place beside, std::vector<std::int64_t>& left, std::uint32_t without) {
    if (std::ranges::all_of(left, [](std::int64_t t) { return t <= 0; })) return;
    const std::vector<Number> tried = is_new()            ? candidates_for(left)
                                      : without == kNever ? candidates()
                                                          : candidates_without(without);
    for (const Number c : tried) {
      std::int64_t& time = left[collective(c).group];
      if (time <= 0 || is_started_[c] || !may_start(c, beside)) continue;
      start_path();
      if (is_started_[c]) continue;
      handle_start(c);
      reserve(c);
      const std::int64_t ns = std::min(time, fate(c).exposed_ns);
      hide(c, beside, ns);
      time -= ns;
      if (std::ranges::all_of(left, [](std::int64_t t) { return t <= 0; })) return;
    }
  }

  // The candidates outside `group`. The group's collectives still count toward the distance limit.
  std::vector<Number> candidates_without(std::uint32_t group) {
    std::vector<Number> others;
    for (const Number c : candidates())
      if (collective(c).group != group) others.push_back(c);
    return others;
  }

  bool refuse(Number c, Place beside, NoOverlap why, Place held_by = kNoPlace) {
    OverlapFate& f = fate(c);
    f.why = why;
    f.beside = beside;
    f.held_by = held_by;
    return false;
  }

  // True if the collective may start now. Fills path_ with the nodes that must run before it, in
  // order. May first end hidden collectives to make room for it in flight.
  bool may_start(Number c, Place beside) {
    const bool has_room = options_.max_in_flight - in_flight_bytes_ >= collective(c).bytes;
    const bool checks_late = options_.is_torch && !has_room;
    if (!checks_late && !find_path(c, beside)) return false;
    if (checks_late && needs(c, beside)) return refuse(c, beside, NoOverlap::dependency);
    if (exceeds_memory(c)) return refuse(c, beside, NoOverlap::memory);
    bool is_forced = false;
    while (!in_flight_.empty() && options_.max_in_flight - in_flight_bytes_ < collective(c).bytes &&
           !would_reenter(in_flight_.front()) && is_hidden_without(in_flight_.front(), beside)) {
      handle_wait(in_flight_.front());
      is_forced = true;
    }
    if (options_.max_in_flight - in_flight_bytes_ < collective(c).bytes)
      return refuse(c, beside, NoOverlap::in_flight);
    return (!checks_late && !is_forced) || (!is_started_[c] && find_path(c, beside));
  }

  [[nodiscard]] bool is_hidden_without(Number c, Place beside) const {
    const OverlapFate& f = result_.fates[c];
    return f.exposed_ns == 0 && std::ranges::find(f.hidden_by, beside) == f.hidden_by.end();
  }

  // True if the collective cannot start before `p` has run.
  bool needs(Number c, Place p) {
    path_.assign(1, collective(c).start);
    ++mark_;
    for (std::size_t i = 0; i < path_.size(); ++i)
      for (const Place input : g_.inputs.of(path_[i])) {
        if (input == p) return true;
        if (is_done_[input] || marks_[input] == mark_) continue;
        marks_[input] = mark_;
        path_.push_back(input);
      }
    return false;
  }

  bool find_path(Number c, Place beside) {
    if (const Place by = blocker_[c]; by != kNoPlace && !is_done_[by])
      return refuse(c, beside, block_kind(by), by);
    path_.assign(1, collective(c).start);
    ++mark_;
    for (std::size_t i = 0; i < path_.size(); ++i)
      for (const Place input : g_.inputs.of(path_[i])) {
        if (is_done_[input] || marks_[input] == mark_) continue;
        marks_[input] = mark_;
        if (const NoOverlap kind = block_kind(input); kind != NoOverlap::none) {
          blocker_[c] = input;
          return refuse(c, beside, kind, input);
        }
        if (is_held_[input]) return refuse(c, beside, NoOverlap::dependency, input);
        if (g_.wait_of[input] >= 0 && (would_reenter(number(g_.wait_of[input])) ||
                                       !is_hidden_without(number(g_.wait_of[input]), beside)))
          return refuse(c, beside, NoOverlap::needs_wait, input);
        path_.push_back(input);
      }
    path_.erase(path_.begin());
    std::ranges::sort(path_);
    return true;
  }

  // The reason why a node that has not run cannot run early for a collective; `none` if it can.
  [[nodiscard]] NoOverlap block_kind(Place p) const {
    if (g_.is_compute[p]) return NoOverlap::needs_compute;
    if (g_.start_of[p] >= 0) return NoOverlap::needs_start;
    if (g_.wait_of[p] < 0 && g_.is_communication[p]) return NoOverlap::needs_exchange;
    return NoOverlap::none;
  }

  void start_path() {
    const std::vector<Place> path = path_;
    for (const Place p : path) {
      if (is_done_[p]) continue;
      if (g_.wait_of[p] >= 0)
        handle_wait(number(g_.wait_of[p]), p);
      else
        schedule(p);
    }
    path_.clear();
  }

  // True if starting the collective now would exceed a memory limit, either now or at a compute
  // node before the first one that depends on it. False for a collective off the path.
  bool exceeds_memory(Number c) {
    const std::uint32_t rank = g_.first_compute[collective(c).start];
    if (rank == kNever) return false;
    const std::int64_t bytes = collective(c).bytes;
    if (memory_.now() + bytes > result_.limit_bytes) return true;
    const auto is_full = [&](std::uint32_t i) {
      return pre_fetched_[i] + bytes > options_.max_in_flight ||
             before_compute_[i] + pre_fetched_[i] + bytes > result_.limit_bytes;
    };
    // A compute node that has no room now will not have room later.
    if (const std::uint32_t at = full_at_[c]; at != kNever && at >= compute_done_) return true;
    for (std::uint32_t i = compute_done_; i < rank; ++i)
      if (is_full(i)) {
        full_at_[c] = i;
        return true;
      }
    return false;
  }

  void reserve(Number c) {
    const std::uint32_t rank = g_.first_compute[collective(c).start];
    if (rank == kNever) return;
    for (std::uint32_t i = compute_done_; i < rank; ++i) pre_fetched_[i] += collective(c).bytes;
  }

  const OverlapGraph& g_;
  const OverlapOptions& options_;
  OverlapSchedule result_;
  TorchMemory memory_;
  Heap on_path_;  // see make_ready
  PythonHeap off_path_;
  std::unordered_map<std::uint32_t, std::int64_t> ready_bytes_;  // by key
  std::vector<bool> is_done_;
  std::vector<bool> is_held_;               // running now: early starts must not depend on it
  std::vector<std::uint32_t> waiting_for_;  // by position: number of inputs that have not run
  std::vector<std::uint32_t> marks_;        // by position: the last search that reached it
  std::uint32_t mark_ = 0;
  std::vector<Place> path_;

  std::vector<bool> is_started_;        // by collective
  std::vector<Number> next_;            // by collective: itself if unstarted, or a later one
  std::vector<Place> blocker_;          // by collective: the node last found to block it
  std::vector<std::uint32_t> full_at_;  // by collective: a compute node without room for it
  std::vector<bool> is_ending_;         // by collective: its wait is under way
  std::size_t ending_ = 0;              // number of collectives whose wait is under way
  std::vector<Number> candidates_;
  std::vector<Tried> tried_;  // candidates_, while they are sorted
  bool is_stale_ = true;
  std::vector<Number> in_flight_;  // in the order of their starts
  std::int64_t in_flight_bytes_ = 0;

  std::vector<std::int64_t> before_compute_;  // by compute node: live bytes before it
  std::vector<std::int64_t> pre_fetched_;     // by compute node: bytes held by early collectives
  std::uint32_t compute_done_ = 0;
  std::int64_t last_on_path_ = -1;
};

}  // namespace

Result<OverlapSchedule> schedule_overlap(const OverlapGraph& graph, const TorchStorages& storages,
                                         const OverlapOptions& options,
                                         const std::function<Result<void>(double)>& proceed) {
  return Scheduler(graph, storages, options).run(proceed);
}

}  // namespace jointer
