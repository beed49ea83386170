// Repeats an edit in identical layers.
//
// Steps
//   1. Find the nodes that the edit names. They must belong to one layer, the edit's home.
//   2. Translate the changes to each other layer: nodes become their counterparts. The neighbor of
//      a moved block may be in a different layer from the block; its counterpart has the same
//      distance in layers from the counterpart of the block. Edits that merge, split or replace
//      calls are made anew for the counterparts of these calls.
//   3. Apply the changes to a copy of the graph, layer after layer in program order. A layer is
//      left out if a counterpart is missing, a change is not legal, or no change would have an
//      effect.
//
// Cost: a copy of the graph, a lookup per name and layer, and the distances of the moves.

#include "core/edit/repeat_in_layers.h"

#include <algorithm>

#include "core/base/counted.h"
#include "core/edit/call_edit.h"
#include "core/edit/moves.h"
#include "core/edit/refuse.h"

namespace jointer {
namespace {

constexpr std::size_t kMaxNotes = 2;  // left-out layers for which the notes give the reason

void add_left_out(RepeatedEdit& repeated) {
  const std::vector<std::string>& left_out = repeated.left_out;
  for (std::size_t i = 0; i < std::min(left_out.size(), kMaxNotes); ++i)
    repeated.edit.notes.push_back(fmt::format("Not in all layers. {}.", left_out[i]));
  if (left_out.size() > kMaxNotes)
    repeated.edit.notes.push_back(
        fmt::format("Not in {} either.", counted(left_out.size() - kMaxNotes, "more layer")));
}

// The node next to which a moved block is placed.
struct Neighbor {
  NodeId node;
  bool is_after = true;  // the node comes after the block, not before it
};

class Repeater {
 public:
  Repeater(const LayerCounterparts& counterparts, Graph& graph, const Dependencies& dependencies)
      : counterparts_(counterparts),
        graph_(graph),
        editor_(graph, dependencies),
        starts_(collective_starts(graph)) {}

  Result<RepeatedEdit> run(const Graph& before, const Edit& edit) {
    call_edit_ = call_edit_of(before, edit);
    JOINTER_CHECK(call_edit_ ? find_home_of(call_edit_->nodes) : find_home(edit));
    RepeatedEdit repeated;
    for (const std::int64_t layer : other_layers()) {
      const Result<std::vector<Change>> changes =
          call_edit_ ? made_in(layer) : translate(edit, layer);
      const Result<void> done =
          changes ? apply_to_layer(*changes) : Result<void>(tl::unexpected(changes.error()));
      if (!done) {
        repeated.left_out.push_back(fmt::format("Layer {}: {}", layer, done.error().message));
        continue;
      }
      ++repeated.layers;
      std::vector<Change>& all = repeated.edit.changes;
      all.insert(all.end(), changes->begin(), changes->end());
    }
    if (repeated.layers == 0)
      return refuse("the edit cannot be repeated in any other layer{}{}",
                    repeated.left_out.empty() ? "" : ". ",
                    repeated.left_out.empty() ? "" : repeated.left_out.front());
    repeated.edit.title =
        fmt::format("{}, the same in {}", edit.title, counted(repeated.layers, "more layer"));
    repeated.edit.notes = rank_notes(graph_, starts_);
    add_left_out(repeated);
    return repeated;
  }

 private:
  // The nodes that a change names.
  Result<std::vector<NodeId>> named(const Change& change) const {
    const auto* move = std::get_if<MoveNodes>(&change);
    const auto* set = std::get_if<SetPolicy>(&change);
    if (move == nullptr && set == nullptr)
      return refuse(
          "the edit changes calls; only moves, policies, and merged, split or replaced calls can "
          "be repeated");
    if (set != nullptr && set->region.kind == RegionChange::Kind::set)
      return refuse("a checkpointed region cannot be repeated: regions differ between layers");
    std::vector<std::string> names = move != nullptr ? move->nodes : set->nodes;
    if (set != nullptr && !set->select.empty()) names = {set->select};
    std::vector<NodeId> nodes;
    for (const std::string& name : names) {
      nodes.push_back(graph_.find(name));
      if (!nodes.back() && set != nullptr)
        return refuse("{} names no node: only policies of named nodes can be repeated", name);
      if (!nodes.back()) return refuse("there is no node {}", name);
    }
    return nodes;
  }

  Result<void> find_home(const Edit& edit) {
    for (const Change& change : edit.changes) {
      JOINTER_TRY(const std::vector<NodeId> nodes, named(change));
      const auto* move = std::get_if<MoveNodes>(&change);
      if (move != nullptr && !graph_.find(move->before))
        return refuse("there is no node {}", move->before);
      neighbors_.push_back(move != nullptr ? neighbor_of(nodes, *move) : Neighbor{});
      JOINTER_CHECK(find_home_of(nodes));
    }
    if (!first_) return refuse("the edit names no nodes");
    return {};
  }

  // Finds the home layer, to which all changed nodes must belong.
  Result<void> find_home_of(std::span<const NodeId> nodes) {
    for (const NodeId node : nodes) {
      const std::int64_t layer = counterparts_.layer_of(node);
      if (layer == Layers::kNone)
        return refuse("{} does not belong to a layer, so it has no counterpart in other layers",
                      graph_.name(node));
      if (!first_) first_ = node;
      home_ = counterparts_.layer_of(first_);
      if (layer != home_)
        return refuse("the edit already changes layers {} and {}; select nodes of one layer", home_,
                      layer);
    }
    return {};
  }

  // All layers but the home, sorted by the position of the counterpart of the first changed node;
  // layers without one come last.
  [[nodiscard]] std::vector<std::int64_t> other_layers() const {
    std::vector<std::int64_t> layers = counterparts_.layers();
    std::erase(layers, home_);
    std::ranges::stable_sort(layers, {}, [&](std::int64_t layer) {
      const NodeId node = counterparts_.in_layer(first_, layer);
      return node && graph_.is_live(node) ? graph_.position(node) : graph_.order().size();
    });
    return layers;
  }

  Result<NodeId> counterpart(NodeId node, std::int64_t layer) const {
    const NodeId other = counterparts_.in_layer(node, layer);
    if (!other || !graph_.is_live(other))
      return refuse("the layer differs from layer {}: it has no counterpart of {}",
                    counterparts_.layer_of(node), graph_.name(node));
    return other;
  }

  // Merges, splits or replaces the calls of a layer.
  [[nodiscard]] Result<std::vector<Change>> made_in(std::int64_t layer) const {
    std::vector<NodeId> nodes;
    for (const NodeId node : call_edit_->nodes) {
      JOINTER_TRY(const NodeId other, counterpart(node, layer));
      nodes.push_back(other);
    }
    JOINTER_TRY(Edit edit, made_for(*call_edit_, graph_, nodes));
    return std::move(edit.changes);
  }

  Result<std::vector<Change>> translate(const Edit& edit, std::int64_t layer) const {
    std::vector<Change> changes;
    for (const Change& change : edit.changes) {
      JOINTER_TRY(std::vector<NodeId> nodes, named(change));
      std::vector<std::string> names;
      for (NodeId& node : nodes) {
        JOINTER_TRY(node, counterpart(node, layer));
        names.push_back(edit_name(graph_, node));
      }
      if (const auto* set = std::get_if<SetPolicy>(&change)) {
        changes.emplace_back(
            SetPolicy{.policy = set->policy, .region = set->region, .nodes = std::move(names)});
        continue;
      }
      JOINTER_TRY(const NodeId before, place_in(layer, neighbors_[changes.size()], nodes));
      changes.emplace_back(
          MoveNodes{.nodes = std::move(names), .before = edit_name(graph_, before)});
    }
    return changes;
  }

  // Returns the node before which to place a layer's block. `neighbor` is the block's neighbor in
  // the home layer.
  Result<NodeId> place_in(std::int64_t layer, const Neighbor& neighbor,
                          std::span<const NodeId> block) const {
    const std::int64_t at = counterparts_.layer_of(neighbor.node);
    if (at == Layers::kNone) return neighbor.node;
    const std::int64_t target = layer + (at - home_);
    if (!std::ranges::binary_search(counterparts_.layers(), target))
      return refuse("the nodes would move to layer {}, which does not exist", target);
    JOINTER_TRY(const NodeId other, counterpart(neighbor.node, target));
    if (neighbor.is_after) return other;
    const auto order = graph_.order();
    std::size_t next = graph_.position(other) + 1;
    while (next < order.size() && std::ranges::find(block, order[next]) != block.end()) ++next;
    if (next == order.size()) return refuse("nothing follows {}", graph_.name(other));
    return order[next];
  }

  [[nodiscard]] Neighbor neighbor_of(std::span<const NodeId> block, const MoveNodes& move) const {
    const NodeId after = graph_.find(move.before);
    if (counterparts_.layer_of(after) != Layers::kNone) return {after, true};
    const std::size_t first = graph_.position(block.front());
    if (first == 0 || first + block.size() != graph_.position(after)) return {after, true};
    const NodeId ahead = graph_.order()[first - 1];
    if (counterparts_.layer_of(ahead) == Layers::kNone) return {after, true};
    return {ahead, false};
  }

  Result<void> apply_to_layer(const std::vector<Change>& changes) {
    // An edit of calls that was already made there is refused without this check.
    if (!call_edit_ &&
        std::ranges::all_of(changes, [&](const Change& each) { return is_done(each); }))
      return refuse("the edit is already applied there");
    JOINTER_CHECK(editor_.apply({.changes = changes}).map([](const Edit& /*inverse*/) {}));
    return {};
  }

  // True if the change would have no effect.
  [[nodiscard]] bool is_done(const Change& change) const {
    if (const auto* set = std::get_if<SetPolicy>(&change))
      return set->region.kind == RegionChange::Kind::keep &&
             std::ranges::all_of(set->nodes, [&](const std::string& name) {
               return graph_.node(graph_.find(name)).policy == set->policy;
             });
    const auto& move = std::get<MoveNodes>(change);
    std::size_t place = graph_.position(graph_.find(move.before));
    if (place < move.nodes.size()) return false;
    place -= move.nodes.size();
    return std::ranges::all_of(move.nodes, [&](const std::string& name) {
      return graph_.position(graph_.find(name)) == place++;
    });
  }

  const LayerCounterparts& counterparts_;
  Graph& graph_;
  Editor editor_;
  std::vector<std::vector<NodeId>> starts_;  // of the collectives, before the repetitions
  std::vector<Neighbor> neighbors_;          // by change; only moves have one
  std::optional<CallEdit> call_edit_;        // nullopt for moves and policies
  NodeId first_;
  std::int64_t home_ = Layers::kNone;
};

}  // namespace

Result<RepeatedEdit> repeat_in_layers(const Graph& before, const LayerCounterparts& counterparts,
                                      const Edit& edit, Graph after,
                                      const Dependencies& dependencies) {
  return Repeater(counterparts, after, dependencies).run(before, edit);
}

Edit in_all_layers(Edit edit, const RepeatedEdit& repeated) {
  edit.title = fmt::format("{} in {}", edit.title, counted(1 + repeated.layers, "layer"));
  edit.changes.insert(edit.changes.end(), repeated.edit.changes.begin(),
                      repeated.edit.changes.end());
  for (const std::string& note : repeated.edit.notes)
    if (std::ranges::find(edit.notes, note) == edit.notes.end()) edit.notes.push_back(note);
  return edit;
}

}  // namespace jointer
