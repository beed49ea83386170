// Computes where collectives start and where they are waited for.
//
// Terms
//   spine    all nodes except waits, the starts that may move, the calls that lead only to these
//            starts, and the calls that take no time and read only a wait or other such calls. A
//            start that directly follows its inputs or depends on another collective does not move.
//            The spine's order does not change. Its clock at a position is the compute time before
//            that position, plus stalls.
//   release  the position after the last of a collective's inputs or, if its start does not move,
//            the position of the start. Its use is the position of the first reader of its result,
//            or the end, and its window is the clock time between the two. The caller's bounds may
//            narrow the window.
//   stall    time during which compute waits. It is added to the clock at the wait and at every
//            later position.
//   slot     the interval that a collective occupies on the single stream that all collectives
//            share.
//
// Steps
//   1. Collectives with short windows (less than twice their time) get the first free slot after
//      their release, in the order of their uses. If the slot ends after the use, the difference is
//      a stall there.
//   2. Collectives that hold more memory when they are done (all-gathers) get the last free slot
//      before their use, the latest use first, so that they hold memory no longer than necessary.
//      If no gap is long enough, they get the longest gap, and the missing time is a stall.
//   3. Collectives that do not hold more memory when they are done (reduce-scatters, all-reduces)
//      get the first free slot after their release.
//   4. Each start is placed where the clock reaches the beginning of the slot, and each wait where
//      the clock has passed the end of the slot, but before the use (for all-gathers, directly
//      before the use). Because starts are in the order of their slots, no collective runs later
//      than planned.
//
// This algorithm is Jointer's own: torch's scheduler starts each collective as soon as compute
// could hide it, and assumes that each group's stream is independent of the others.
//
// Cost: C^2 + V for C collectives and V nodes, and another V for each stall.

#include "passes/bucketing/collective_timing.h"

#include <algorithm>
#include <queue>
#include <tuple>

namespace jointer {
namespace {

using Number = std::uint32_t;

struct Slot {
  std::int64_t from = 0, to = 0;
};

class Timer {
 public:
  Timer(const OverlapGraph& graph, const TimingBounds& bounds)
      : g_(graph), bounds_(bounds), owner_(graph.size(), kNever), parts_(graph.collectives.size()) {
    for (Number c = 0; c < parts_.size(); ++c) find_parts(c);
    find_uses();
    find_clock();
  }

  std::vector<Place> run() {
    std::vector<Number> tight, late, early;
    for (Number c = 0; c < parts_.size(); ++c) {
      const std::int64_t window = clock_[parts_[c].use] - clock_[parts_[c].release];
      (window < 2 * g_.collectives[c].ns ? tight : parts_[c].grows ? late : early).push_back(c);
    }
    std::ranges::stable_sort(tight, {}, [&](Number c) { return parts_[c].use; });
    std::ranges::stable_sort(late, {}, [&](Number c) { return ~parts_[c].use; });
    std::ranges::stable_sort(early, {}, [&](Number c) { return parts_[c].release; });
    for (const Number c : tight) place_tight(c);
    for (const Number c : late) place_late(c);
    for (const Number c : early) reserve(c, first_free(clock_[parts_[c].release], time(c)));
    return emit();
  }

 private:
  struct Parts {
    std::vector<Place> ahead, behind;  // nodes that move with start and wait, including them
    Place release = 0, use = 0;        // it may start at `release` and must be done at `use`
    bool has_fixed_start = false;
    bool grows = false;
    Slot slot;
  };

  [[nodiscard]] std::int64_t time(Number c) const { return g_.collectives[c].ns; }
  [[nodiscard]] bool may_move(Place p) const {
    return p >= g_.leading && !g_.is_compute[p] && !g_.is_communication[p] &&
           g_.graph->node(g_.nodes[p]).kind == NodeKind::call;
  }

  // Finds the calls that lead only to the start, and the calls that take no time and read only the
  // wait.
  void find_parts(Number c) {
    const OverlapCollective& collective = g_.collectives[c];
    Parts& parts = parts_[c];
    const Node& start = g_.graph->node(g_.nodes[collective.start]);
    std::int64_t in = 0;
    for (const NodeId input : g_.graph->inputs(start))
      in += g_.graph->output_bytes(g_.graph->node(input));
    parts.grows = g_.graph->output_bytes(start) > in;
    owner_[collective.start] = c;
    owner_[collective.wait] = c;
    parts.ahead.push_back(collective.start);
    std::priority_queue<Place> inputs;
    const auto add_inputs = [&](Place p) {
      for (const Place input : g_.inputs.of(p)) inputs.push(input);
    };
    add_inputs(collective.start);
    while (!inputs.empty()) {
      const Place p = inputs.top();
      inputs.pop();
      if (owner_[p] != kNever || !may_move(p)) continue;
      const auto users = g_.users.of(p);
      if (!std::ranges::all_of(users, [&](Place u) { return owner_[u] == c; })) continue;
      owner_[p] = c;
      parts.ahead.push_back(p);
      add_inputs(p);
    }
    std::ranges::sort(parts.ahead);
    parts.behind.push_back(collective.wait);
    for (std::size_t i = 0; i < parts.behind.size(); ++i)
      for (const Place user : g_.users.of(parts.behind[i]))
        if (owner_[user] == kNever && may_move(user) && g_.ns[user] == 0 &&
            g_.inputs.of(user).size() == 1) {
          owner_[user] = c;
          parts.behind.push_back(user);
        }
    std::ranges::sort(parts.behind);
  }

  void find_uses() {
    for (Number c = 0; c < parts_.size(); ++c) {
      Parts& parts = parts_[c];
      parts.release = static_cast<Place>(g_.leading);
      for (const Place p : parts.ahead)
        for (const Place input : g_.inputs.of(p)) {
          if (owner_[input] == c) continue;
          parts.has_fixed_start = parts.has_fixed_start || owner_[input] != kNever;
          parts.release = std::max(parts.release, input + 1);
        }
      const Place start = g_.collectives[c].start;
      if (parts.release >= start || parts.has_fixed_start) {
        parts.has_fixed_start = true;
        parts.release = start;
      }
      // The end of the program counts as a use.
      parts.use = static_cast<Place>(g_.size());
      for (const Place p : parts.behind)
        for (const Place user : g_.users.of(p))
          if (owner_[user] != c) parts.use = std::min(parts.use, user);
      parts.use = std::max(parts.use, parts.release);
      if (!parts.has_fixed_start)
        parts.release = std::clamp(bounds_.not_before[c], parts.release, parts.use);
      parts.use = std::clamp(bounds_.not_behind[c], parts.release, parts.use);
    }
    for (Number c = 0; c < parts_.size(); ++c)
      if (parts_[c].has_fixed_start)
        for (const Place p : parts_[c].ahead) owner_[p] = kNever;
  }

  void find_clock() {
    clock_.assign(g_.size() + 1, 0);
    for (std::size_t p = 0; p < g_.size(); ++p) clock_[p + 1] = clock_[p] + g_.ns[p];
  }

  // --- Slots ---

  [[nodiscard]] std::size_t first_slot_ending_after(std::int64_t at) const {
    return static_cast<std::size_t>(
        std::upper_bound(slots_.begin(), slots_.end(), at,
                         [](std::int64_t t, const Slot& s) { return t < s.to; }) -
        slots_.begin());
  }

  [[nodiscard]] std::int64_t first_free(std::int64_t from, std::int64_t length) const {
    for (std::size_t i = first_slot_ending_after(from); i < slots_.size(); ++i) {
      if (slots_[i].from - from >= length) break;
      from = std::max(from, slots_[i].to);
    }
    return from;
  }

  void reserve(Number c, std::int64_t from) {
    const Slot slot{from, from + time(c)};
    parts_[c].slot = slot;
    if (slot.from == slot.to) return;
    slots_.insert(slots_.begin() + static_cast<std::ptrdiff_t>(first_slot_ending_after(from)),
                  slot);
  }

  void place_tight(Number c) {
    const std::int64_t from = first_free(clock_[parts_[c].release], time(c));
    const std::int64_t late = from + time(c) - clock_[parts_[c].use];
    // Collectives are placed in the order of their uses, so this stall shifts the clock but no
    // slot.
    if (late > 0)
      for (std::size_t p = parts_[c].use; p < clock_.size(); ++p) clock_[p] += late;
    reserve(c, from);
  }

  void place_late(Number c) {
    const std::int64_t release = clock_[parts_[c].release], use = clock_[parts_[c].use];
    std::int64_t best = -1, best_end = use;
    std::int64_t end = use;
    // Visit the gaps backward from the use.
    std::size_t i = first_slot_ending_after(use);
    if (i < slots_.size() && slots_[i].from < use) end = slots_[i].from;
    for (;;) {
      const std::int64_t begin = std::max(i > 0 ? slots_[i - 1].to : release, release);
      if (end - begin >= time(c)) {
        reserve(c, end - time(c));
        return;
      }
      if (end - begin > best) {
        best = end - begin;
        best_end = end;
      }
      if (i == 0 || slots_[i - 1].from <= release) break;
      end = slots_[--i].from;
    }
    stall(best_end, time(c) - std::max<std::int64_t>(best, 0));
    reserve(c, best < 0 ? best_end : best_end - best);
  }

  // Delays everything from the time `at` on.
  void stall(std::int64_t at, std::int64_t length) {
    for (auto p = std::lower_bound(clock_.begin(), clock_.end(), at); p != clock_.end(); ++p)
      *p += length;
    for (Slot& slot : slots_)
      if (slot.from >= at) {
        slot.from += length;
        slot.to += length;
      }
    for (Parts& parts : parts_)
      if (parts.slot.to > parts.slot.from && parts.slot.from >= at) {
        parts.slot.from += length;
        parts.slot.to += length;
      }
  }

  // --- The order ---

  std::vector<Place> emit() {
    struct Inserted {
      Place before;
      int rank;  // waits before starts
      std::int64_t when;
      Number collective;
    };
    std::vector<Inserted> inserted;
    for (Number c = 0; c < parts_.size(); ++c) {
      const Parts& parts = parts_[c];
      const auto reached = std::upper_bound(clock_.begin(), clock_.end() - 1, parts.slot.from);
      const auto at = static_cast<Place>(std::max<std::ptrdiff_t>(reached - clock_.begin() - 1, 0));
      Place start = g_.collectives[c].start;
      if (!parts.has_fixed_start) {
        start = std::clamp(at, parts.release, parts.use);
        inserted.push_back({start, 1, parts.slot.from, c});
      }
      const auto over = std::lower_bound(clock_.begin(), clock_.end() - 1, parts.slot.to);
      const auto done = static_cast<Place>(over - clock_.begin());
      const Place wait =
          parts.grows ? parts.use : std::clamp(done, std::min(start + 1, parts.use), parts.use);
      inserted.push_back({wait, 0, parts.slot.to, c});
    }
    std::ranges::sort(inserted, {}, [](const Inserted& each) {
      return std::tuple(each.before, each.rank, each.when, each.collective);
    });
    std::vector<Place> order;
    order.reserve(g_.size());
    std::size_t next = 0;
    for (Place p = 0; p <= g_.size(); ++p) {
      for (; next < inserted.size() && inserted[next].before == p; ++next) {
        const Parts& parts = parts_[inserted[next].collective];
        const auto& nodes = inserted[next].rank == 0 ? parts.behind : parts.ahead;
        order.insert(order.end(), nodes.begin(), nodes.end());
      }
      if (p < g_.size() && owner_[p] == kNever) order.push_back(p);
    }
    return order;
  }

  const OverlapGraph& g_;
  const TimingBounds& bounds_;
  std::vector<std::uint32_t> owner_;  // by position: the collective that it moves with, or kNever
  std::vector<Parts> parts_;          // by collective
  std::vector<std::int64_t> clock_;   // by position, including the end: when compute reaches it
  std::vector<Slot> slots_;           // disjoint, sorted by time
};

}  // namespace

std::vector<Place> time_collectives(const OverlapGraph& graph, const TimingBounds& bounds) {
  return Timer(graph, bounds).run();
}

}  // namespace jointer
