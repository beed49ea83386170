// Determines what moving a collective gains.
//
// Steps
//   1. Move the start, then the wait, to the position with the shortest step within the peak limit,
//      once without their chains and once with them. The command B makes the better of these moves
//      (MovePlanner).
//   2. Repeat the better move in all identical layers (core/edit/repeat_in_layers.h).
//   3. Apply each move to the what-if, read the estimates, and undo the move.
//
// A move in one layer counts as a fix only if it makes the step shorter or, in a step of the same
// time, hides more communication. Its repetition in all layers is offered whatever it gains.

#include "views/session/edit/collective_fixes.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/edit/repeat_in_layers.h"
#include "core/schedule/trial_moves.h"
#include "views/session/edit/planned_moves.h"

namespace jointer::views {

std::optional<FixKind> CollectiveFixes::best() const {
  const auto key = [&](FixKind kind) {
    const Figures& after = of(kind).after;
    return std::tuple(after.step_ns, after.exposed_ns, after.peak_bytes);
  };
  std::optional<FixKind> found;
  for (const FixKind kind : {FixKind::alone, FixKind::with_chains})
    if (of(kind).edit && (!found || key(kind) < key(*found))) found = kind;
  return found;
}

namespace {

std::string why_not(const std::string& refusal, bool has_peak_limit) {
  if (!refusal.empty()) return "No other position saves time. " + refusal;
  return has_peak_limit ? "No other position saves time within the peak of the graph as opened."
                        : "No other position saves time within the current peak.";
}

}  // namespace

struct FixFinder::Basis {
  explicit Basis(const Snapshot& snapshot)
      : graph(snapshot.graph),
        dependencies(graph),
        what_if(graph, dependencies, snapshot.analysis.costs, snapshot.analysis.options.memory,
                snapshot.analysis.options.simulation),
        counterparts(graph, snapshot.analysis.modules),
        figures(what_if.figures()) {}

  CollectiveFix moved(std::span<const NodeId> nodes, std::optional<std::int64_t> peak_limit,
                      FixKind kind) {
    PlannedMoves moves(graph, what_if, 0);
    moves.set_chains(kind == FixKind::with_chains);
    for (const NodeId node : nodes) moves.add(node, PlannedMoves::to_best_place(peak_limit));
    CollectiveFix fix{.why_not = why_not(moves.refusal(), peak_limit.has_value()),
                      .after = what_if.figures()};
    const bool saves_time = std::tuple(fix.after.step_ns, fix.after.exposed_ns) <
                            std::tuple(figures.step_ns, figures.exposed_ns);
    if (saves_time) {
      fix.edit = moves.edit({}, nodes.size());
      fix.edit->title = fmt::format("Move {}{} to the best position", graph.name(nodes.front()),
                                    kind == FixKind::alone ? " alone" : "");
      fix.why_not.clear();
    } else {
      fix.after = figures;
    }
    moves.undo();
    return fix;
  }

  CollectiveFix in_all_layers(const CollectiveFix& fix) {
    CollectiveFix all{.after = figures};
    Graph after = graph;
    if (const auto done = apply(after, *fix.edit, dependencies); !done) {
      all.why_not = done.error().message;
      return all;
    }
    const Result<RepeatedEdit> repeated =
        repeat_in_layers(graph, counterparts, *fix.edit, std::move(after), dependencies);
    if (!repeated) {
      all.why_not = fmt::format("Not in other layers: {}.", repeated.error().message);
      return all;
    }
    all.layers = 1 + repeated->layers;
    all.edit = jointer::in_all_layers(*fix.edit, *repeated);
    all.after = figures_after(*all.edit);
    return all;
  }

  Figures figures_after(const Edit& edit) {
    TrialMoves moves(what_if);
    for (const Change& change : edit.changes) {
      const auto& move = std::get<MoveNodes>(change);
      std::vector<NodeId> block;
      for (const std::string& name : move.nodes) block.push_back(graph.find(name));
      block.push_back(graph.find(move.before));
      // The gap does not count nodes of the block that precede the position.
      const std::vector<PlacedNode> placed = placed_in(what_if.order(), block);
      const auto before = std::ranges::find(placed, block.back(), &PlacedNode::node);
      const std::size_t gap = before->place - static_cast<std::size_t>(before - placed.begin());
      block.pop_back();
      // The edit is legal, so the what-if accepts it.
      [[maybe_unused]] const auto done = moves.move(block, gap);
    }
    const Figures after = what_if.figures();
    moves.undo();
    return after;
  }

  const Graph& graph;
  Dependencies dependencies;
  WhatIf what_if;
  LayerCounterparts counterparts;
  Figures figures;  // of the graph before any move
};

FixFinder::FixFinder(SnapshotPtr snapshot, std::optional<std::int64_t> peak_limit)
    : snapshot_(std::move(snapshot)), peak_limit_(peak_limit) {}

FixFinder::~FixFinder() = default;

Result<CollectiveFixes> FixFinder::find(NodeId start, const std::atomic<bool>& cancel) {
  const auto cancelled = [] { return fail(Error::Kind::cancelled, "cancelled"); };
  if (!basis_) basis_ = std::make_unique<Basis>(*snapshot_);
  if (cancel) return cancelled();
  const Simulation& simulation = snapshot_->analysis.simulation;
  const std::int32_t index = simulation.collective_of(start);
  if (index < 0)
    return fail(Error::Kind::usage, "{} starts neither a collective nor a copy to or from the host",
                snapshot_->graph.name(start));
  const CollectiveTiming& collective = simulation.collectives()[static_cast<std::size_t>(index)];
  std::vector<NodeId> nodes{collective.start};
  if (collective.wait) nodes.push_back(collective.wait);
  CollectiveFixes fixes{.before = basis_->figures};
  for (const FixKind kind : {FixKind::alone, FixKind::with_chains}) {
    fixes.by_kind[static_cast<std::size_t>(kind)] = basis_->moved(nodes, peak_limit_, kind);
    if (cancel) return cancelled();
  }
  const std::optional<FixKind> best = fixes.best();
  fixes.by_kind[static_cast<std::size_t>(FixKind::all_layers)] =
      best ? basis_->in_all_layers(fixes.of(*best)) : fixes.of(FixKind::with_chains);
  return fixes;
}

}  // namespace jointer::views
