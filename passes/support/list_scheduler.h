#pragma once

// List scheduling that hides collectives, for units with dependencies and times: calls of a graph,
// or kernels.
//
// Among units whose dependencies have run, the one with the lowest score runs next. The score
// consists of
//   1. if collectives are raised, the index of the first collective that depends on the unit (its
//      own index if the unit is a collective); units on which no collective depends come last;
//   2. if waits are sunk, 1 for a wait and 0 for other units;
//   3. the number of the unit.
// With `overlap`, whenever a collective starts, ready units that neither communicate nor wait run
// next, lowest score first, until they take as long as the collective.
//
// Cost: n log n for n units, plus the number of their dependencies.
//
// Source: torch/_inductor/comms.py, _schedule_for_comm. For each unit that it runs during a
// collective, upstream searches all ready units; here two heaps give the same result.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace jointer {

struct ListAims {
  bool raise = false, sink = false, overlap = false;
};

// `Units` provides
//   Unit                          an unsigned integer type
//   size()                        the number of units, which are numbered from 0
//   is_start(Unit), is_wait(Unit)
//   time(Unit)                    a signed number, in any unit of time
//   for_each_after(Unit, visit)   visits the units that depend on this one, each once
template <class Units>
class ListScheduler {
 public:
  using Unit = typename Units::Unit;
  // The value of `blocks` for units on which no collective depends.
  static constexpr std::uint32_t kNothing = std::numeric_limits<std::uint32_t>::max();

  // `units` must outlive this object.
  ListScheduler(const Units& units, ListAims aims)
      : units_(units), aims_(aims), missing_(units.size()), blocks_(units.size(), kNothing) {
    order_.reserve(units.size());
  }

  // Adds a unit to those to schedule. `missing`: the number of units on which it depends. `blocks`:
  // the first part of its score; kNothing for all units if collectives are not raised.
  void add(Unit unit, std::uint32_t missing, std::uint32_t blocks) {
    missing_[unit] = missing;
    blocks_[unit] = blocks;
    if (missing == 0) make_ready(unit);
  }

  // Schedules all units that were added. Calls `before(count)`, whose error ends the run, before
  // each unit that was not chosen to hide a collective; `count` is the number of units that have
  // run. Calls `hid(unit, start, left)` after each unit that was chosen; `left` is the time of the
  // collective that is still exposed, or negative if the unit takes longer than that.
  template <class Before, class Hid>
  Result<void> run(Before before, Hid hid) {
    while (!communication_.empty() || !compute_.empty()) {
      const bool communicates_next =
          compute_.empty() || (!communication_.empty() && communication_.top() < compute_.top());
      const Unit unit = take(communicates_next ? communication_ : compute_);
      JOINTER_CHECK(before(order_.size()));
      place(unit);
      if (aims_.overlap && units_.is_start(unit)) fill(unit, hid);
    }
    return {};
  }

  [[nodiscard]] std::vector<Unit> take_order() { return std::move(order_); }

 private:
  using Score = std::tuple<std::uint32_t, bool, Unit>;
  using Heap = std::priority_queue<Score, std::vector<Score>, std::greater<>>;

  void make_ready(Unit unit) {
    const bool communicates = units_.is_start(unit) || units_.is_wait(unit);
    (communicates ? communication_ : compute_)
        .emplace(blocks_[unit], aims_.sink && units_.is_wait(unit), unit);
  }
  static Unit take(Heap& heap) {
    const Unit unit = std::get<2>(heap.top());
    heap.pop();
    return unit;
  }
  void place(Unit unit) {
    order_.push_back(unit);
    units_.for_each_after(unit, [&](Unit after) {
      if (--missing_[after] == 0) make_ready(after);
    });
  }
  template <class Hid>
  void fill(Unit start, Hid hid) {
    auto left = units_.time(start);
    while (left > 0 && !compute_.empty()) {
      const Unit beside = take(compute_);
      place(beside);
      left -= units_.time(beside);
      hid(beside, start, left);
    }
  }

  const Units& units_;
  ListAims aims_;
  std::vector<std::uint32_t> missing_;  // by unit: number of dependencies that have not run
  std::vector<std::uint32_t> blocks_;   // by unit: the first collective that depends on it
  Heap communication_, compute_;        // ready units
  std::vector<Unit> order_;
};

}  // namespace jointer
