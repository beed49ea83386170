// place_collectives: moves each exposed collective to the position that gives the shortest step
// time.
//
// Terms
//   exposed  the part of a collective's time that no compute hides, in the simulation of the
//            current order.
//   block    a collective's start with the chain of cheap calls that computes its input, or its
//            wait with the chain of cheap calls that reads it (core/edit/moves.h). Without the
//            chain, the start or wait could hardly move.
//   gap      a position that dependencies allow for the block (core/schedule/legal_range.h).
//
// Steps of each round
//   1. Simulate the order. List the collectives that are exposed for at least the minimum gain,
//      longest exposed time first, each followed by the collective that occupies its stream when it
//      could start.
//   2. For each collective, first place the start; if the collective is still exposed for that
//      long, place the wait. A what-if computes the step time and the peak for each gap, except for
//      outer gaps that are further away and no better. The best gap is the gap with the shortest
//      step time among those within the allowed memory. Ties go to the least exposed time, then to
//      the lowest peak, then to the nearest gap. The block moves there if that saves enough time.
//   The pass ends after a round in which nothing moved, or after `rounds` rounds. A collective is
//   skipped if its exposed time has not changed since it was last considered. A block is skipped if
//   the calls that it can pass take less time in total than a move must save.
//
// Every move is a separate edit, like a move made by hand. Collectives on a stream keep their
// order unless a parameter allows otherwise, because ranks with different estimates could
// order them differently.
//
// Cost: for each block, a preview of its gaps and a move. If only a few gaps must be evaluated, the
// preview takes about 10 microseconds, regardless of the graph's size (WhatIf::preview_near);
// otherwise it takes 0.1 to 5 ms for Llama3-8B, depending on the graph.
//
// Source: none; this pass is Jointer's own.

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "core/base/checked.h"
#include "core/base/units.h"
#include "core/edit/moves.h"
#include "core/schedule/what_if.h"
#include "passes/reordering/collective_moves.h"
#include "passes/reordering/reordering.h"
#include "passes/support/parameters.h"

namespace jointer {
namespace {

struct Settings {
  std::int64_t min_gain_ns = 0;
  std::int64_t rounds = 1;
  std::optional<std::int64_t> max;  // maximum number of collectives per round
  bool may_overtake = false;
  double memory_budget = 0;
};

class Placing {
 public:
  // Moves nodes in a copy; `graph` stays unchanged.
  Placing(const Graph& graph, std::vector<NodeCost> costs, const Settings& settings,
          PassContext& context)
      : context_(context),
        settings_(settings),
        options_(context.analysis()),
        ordered_(graph),
        costs_(std::move(costs)),
        users_(graph),
        dependencies_(graph),
        what_if_(graph, dependencies_, costs_, options_.memory, options_.simulation),
        allowed_(allowed_bytes(what_if_.figures().peak_bytes, settings.memory_budget, context)),
        seen_(graph.node_count(), -1) {}

  Result<Graph> run() {
    for (std::int64_t round = 0; round < settings_.rounds; ++round) {
      const std::size_t before = moved_;
      JOINTER_CHECK(run_round(round));
      if (moved_ == before) break;
    }
    if (moved_ == 0) context_.decide("kept", "No collective has a better position.");
    return std::move(ordered_);
  }

 private:
  Result<void> run_round(std::int64_t round) {
    const std::vector<CollectiveTiming> shown = collectives_that_show();
    for (std::size_t i = 0; i < shown.size(); ++i) {
      std::int64_t& seen = seen_[shown[i].start.index()];
      if (seen == shown[i].exposed_ns) continue;
      seen = shown[i].exposed_ns;
      const double part = static_cast<double>(i) / static_cast<double>(shown.size());
      JOINTER_CHECK(context_.report((static_cast<double>(round) + part) /
                                    static_cast<double>(settings_.rounds)));
      JOINTER_TRY(const std::int64_t saved, place(shown[i].start));
      // Move the wait only if the collective is still exposed.
      if (shown[i].wait && shown[i].exposed_ns - saved >= min_gain())
        JOINTER_CHECK(place(shown[i].wait));
    }
    return {};
  }

  // The exposed collectives, longest exposed time first, without duplicates. A collective that is
  // exposed because an earlier one occupies its stream is followed by that one.
  [[nodiscard]] std::vector<CollectiveTiming> collectives_that_show() const {
    const Simulation simulation(ordered_, costs_, options_.simulation);
    const auto all = simulation.collectives();
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].exposed_ns >= min_gain()) order.push_back(i);
    std::ranges::stable_sort(order, std::ranges::greater(),
                             [&](std::size_t i) { return all[i].exposed_ns; });
    std::vector<bool> is_taken(all.size(), false);
    std::vector<CollectiveTiming> found;
    const auto take = [&](std::size_t i) {
      if (is_taken[i]) return;
      is_taken[i] = true;
      found.push_back(all[i]);
    };
    for (const std::size_t i : order) {
      take(i);
      const ExposureReason& reason = all[i].reason;
      if (reason.kind != ExposureReason::Kind::stream_busy || !reason.node) continue;
      if (const std::int32_t ahead = simulation.collective_of(reason.node); ahead >= 0)
        take(static_cast<std::size_t>(ahead));
    }
    if (settings_.max && found.size() > static_cast<std::size_t>(*settings_.max))
      found.resize(static_cast<std::size_t>(*settings_.max));
    return found;
  }

  // Places the start or wait. Returns by how many nanoseconds the step time decreased.
  Result<std::int64_t> place(NodeId node) {
    const std::vector<NodeId> block =
        carry(ordered_, users_, node, carrying_direction(ordered_, node)).block;
    const auto range = what_if_.range(block);
    if (!range) return 0;  // the chain cannot move as a block
    const Gaps gaps = gaps_in_turn(block, *range);
    if (max_gain(block, gaps) < min_gain()) return 0;
    JOINTER_TRY(const NearPreview preview, what_if_.preview_near(block, gaps.first, gaps.last));
    const Figures now = what_if_.figures();
    const auto gap = best_gap(range->current, preview);
    if (!gap) return 0;
    const Figures then = preview.at[*gap - preview.first];
    if (now.step_ns - then.step_ns < min_gain()) return 0;
    JOINTER_CHECK(move(node, block, *gap, now, then));
    return now.step_ns - then.step_ns;
  }

  [[nodiscard]] std::int64_t min_gain() const {
    return std::max<std::int64_t>(settings_.min_gain_ns, 1);
  }

  struct Gaps {
    std::size_t first = 0, last = 0;
  };

  [[nodiscard]] std::optional<std::size_t> best_gap(std::size_t at,
                                                    const NearPreview& preview) const {
    const auto key = [&](std::size_t gap) {
      const Figures& f = preview.at[gap - preview.first];
      return std::tuple(f.step_ns, f.exposed_ns, f.peak_bytes, gap > at ? gap - at : at - gap, gap);
    };
    std::optional<std::size_t> best;
    for (std::size_t gap = preview.first; gap < preview.first + preview.at.size(); ++gap) {
      if (preview.at[gap - preview.first].peak_bytes > allowed_) continue;
      if (!best || key(gap) < key(*best)) best = gap;
    }
    return best;
  }

  [[nodiscard]] static bool is_in(std::span<const NodeId> block, NodeId id) {
    return std::ranges::find(block, id) != block.end();
  }

  // Converts a position in the order into a gap in the order without the block.
  [[nodiscard]] std::size_t gap_of(std::span<const NodeId> block, std::size_t place) const {
    return place - static_cast<std::size_t>(std::ranges::count_if(
                       block, [&](NodeId id) { return ordered_.position(id) < place; }));
  }

  // The total time of the calls that the block can pass, which limits what a move can save. The sum
  // ends when it reaches min_gain().
  [[nodiscard]] std::int64_t max_gain(std::span<const NodeId> block, Gaps gaps) const {
    const std::span<const NodeId> order = ordered_.order();
    std::int64_t sum = 0;
    std::size_t rest = gaps.first;
    for (std::size_t place = place_of_rest(block, rest); rest < gaps.last; ++place) {
      if (is_in(block, order[place])) continue;
      const NodeCost& cost = costs_[order[place].index()];
      sum += cost.host_ns + (cost.lane == NodeCost::Lane::compute ? cost.ns : 0);
      ++rest;
      if (sum >= min_gain()) break;
    }
    return sum;
  }

  // The position of the node that follows a gap.
  [[nodiscard]] std::size_t place_of_rest(std::span<const NodeId> block, std::size_t gap) const {
    std::vector<std::size_t> places;
    for (const NodeId id : block) places.push_back(ordered_.position(id));
    std::ranges::sort(places);
    for (const std::size_t place : places)
      if (place <= gap) ++gap;
    return gap;
  }

  // The gaps to which the block can move without one of its starts overtaking another start on the
  // same stream.
  [[nodiscard]] Gaps gaps_in_turn(std::span<const NodeId> block, const LegalRange& range) const {
    Gaps gaps{range.first, range.last};
    if (settings_.may_overtake) return gaps;
    const std::span<const NodeId> order = ordered_.order();
    for (const NodeId id : block) {
      const Node& start = ordered_.node(id);
      if (!ordered_.is_asynchronous(start)) continue;
      const std::size_t stream = stream_key(ordered_, start, options_.simulation);
      const auto is_of_stream = [&](NodeId other) {
        return ordered_.is_asynchronous(ordered_.node(other)) && !is_in(block, other) &&
               stream_key(ordered_, ordered_.node(other), options_.simulation) == stream;
      };
      const std::size_t here = ordered_.position(id);
      for (std::size_t place = here; place-- > 0 && gap_of(block, place + 1) > gaps.first;)
        if (is_of_stream(order[place])) gaps.first = gap_of(block, place + 1);
      for (std::size_t place = here + 1; place < order.size() && gap_of(block, place) < gaps.last;
           ++place)
        if (is_of_stream(order[place])) gaps.last = gap_of(block, place);
    }
    return gaps;
  }

  Result<void> move(NodeId node, std::span<const NodeId> block, std::size_t gap, const Figures& now,
                    const Figures& then) {
    const NodeId before = ordered_.order()[place_of_rest(block, gap)];
    JOINTER_TRY(Edit edit, move_edit(ordered_, block, before));
    JOINTER_CHECK(what_if_.move(block, gap));
    ordered_.move(block, before);
    ++moved_;
    context_.decide(ordered_, node, "moved",
                    fmt::format("{}: the step time decreases by {} to {}; the peak is {}.",
                                edit.title, format_ns(now.step_ns - then.step_ns),
                                format_ns(then.step_ns), format_bytes(then.peak_bytes)));
    for (const std::string& note : edit.notes) context_.decide(ordered_, node, "note", note);
    edit.by = "place_collectives";
    context_.add_edit(std::move(edit));
    return {};
  }

  PassContext& context_;
  const Settings& settings_;
  const AnalysisOptions& options_;
  Graph ordered_;
  std::vector<NodeCost> costs_;
  Users users_;
  Dependencies dependencies_;
  WhatIf what_if_;
  std::int64_t allowed_ = 0;  // bytes
  std::size_t moved_ = 0;
  std::vector<std::int64_t> seen_;  // by start: exposed time when last considered, or -1
};

Result<void> run_place_collectives(Graph& graph, const Arguments& arguments, PassContext& context) {
  Settings settings;
  settings.min_gain_ns = saturating_whole(arguments.number("least_gain_us") * 1e3);
  settings.rounds = arguments.integer("rounds");
  settings.max = arguments.optional_integer("most");
  settings.may_overtake = arguments.boolean("unsafe_collectives_reorder");
  settings.memory_budget = arguments.number("peak_memory_budget");
  JOINTER_TRY(const auto estimator, estimator_for(graph, context.analysis()));
  JOINTER_TRY(Graph ordered,
              Placing(graph, estimate_all(graph, *estimator), settings, context).run());
  graph = std::move(ordered);
  return context.report(1);
}

}  // namespace

Pass place_collectives_pass() {
  return {
      .info = {.name = "place_collectives",
               .summary = "Moves exposed collectives, one at a time, to the position with the "
                          "shortest step time; each move is a separate edit.",
               .source = "Jointer",
               .stage = PassStage::reordering,
               .parameters =
                   {count("rounds", 2, 1,
                          "Maximum number of rounds; the pass ends early if nothing moves."),
                    optional_count("most",
                                   "Maximum number of collectives per round, most exposed first; "
                                   "none: all."),
                    number("least_gain_us", 2.0,
                           "Minimum saving in step time per move, in microseconds."),
                    number("peak_memory_budget", 0.0,
                           "Allowed growth of the peak, as a fraction of the original peak."),
                    flag("unsafe_collectives_reorder", false,
                         "Collectives in the same process group may change their order. Ranks that "
                         "order them differently can hang or compute wrong results.")}},
      .run = run_place_collectives};
}

}  // namespace jointer
