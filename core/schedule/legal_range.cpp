// Finds the positions to which a block of nodes may be moved. Each node of the block must stay
// after all nodes that it depends on and before all nodes that depend on it. The remaining nodes
// keep their order, so only direct dependencies between them and the block matter: the last node
// that must precede the block, and the first that must follow it.
//
// Cost: O(d log b) for the d direct dependencies of a block of b nodes.

#include "core/schedule/legal_range.h"

#include <algorithm>
#include <vector>

namespace jointer {
namespace {

template <class PositionOf>
class RangeFinder {
 public:
  RangeFinder(const Graph& graph, const Dependencies& dependencies, std::span<const NodeId> block,
              std::size_t order_size, PositionOf position_of)
      : graph_(graph),
        dependencies_(dependencies),
        block_(block),
        order_size_(order_size),
        position_of_(position_of) {
    for (const NodeId id : block) positions_.push_back(position_of_(id));
    std::sort(positions_.begin(), positions_.end());
    positions_.erase(std::unique(positions_.begin(), positions_.end()), positions_.end());
  }

  Result<LegalRange> run() {
    JOINTER_CHECK(check_block());
    range_.first = 0;
    range_.last = order_size_ - positions_.size();
    for (const NodeId id : block_) bound_by_walls(id);
    for (const NodeId id : block_) {
      for (const Dependency& d : dependencies_.before(id)) bound_below(d, id);
      for (const Dependency& d : dependencies_.after(id)) bound_above(d, id);
    }
    if (range_.first > range_.last) return apart();
    range_.current = std::clamp(positions_.front(), range_.first, range_.last);
    return range_;
  }

 private:
  Result<void> check_block() const {
    if (block_.empty()) return fail(Error::Kind::usage, "no nodes to move");
    const Node& first = graph_.node(block_.front());
    for (const NodeId id : block_) {
      const Node& n = graph_.node(id);
      if (position_of_(id) >= order_size_)
        return fail(Error::Kind::usage, "{} is no longer in the graph", graph_.name(id));
      if (n.kind != NodeKind::call)
        return fail(Error::Kind::usage,
                    "{} is {}: placeholders, constants and outputs stay where they are",
                    graph_.name(id), kind_text(n.kind));
      if (n.part != first.part)
        return fail(Error::Kind::usage,
                    "{} and {} cannot be moved together: they are in different halves of the pair",
                    graph_.name(block_.front()), graph_.name(id));
    }
    return {};
  }

  // Explains why the nodes of the block cannot be adjacent. Either one of the remaining nodes must
  // be between two of them, or a remaining node that must follow a node of the block precedes one
  // that must precede another node of the block: the remaining nodes keep their order.
  [[nodiscard]] tl::unexpected<Error> apart() const {
    const auto name = [&](NodeId id) { return graph_.name(id); };
    if (!range_.before || !range_.after)
      return fail(Error::Kind::usage,
                  "{} nodes cannot be adjacent: a placeholder or an output is between them",
                  positions_.size());
    if (range_.before == range_.after)
      return fail(Error::Kind::usage, "{} and {} cannot be adjacent: {} must stay between them",
                  name(range_.held_before), name(range_.held_after), name(range_.before));
    return fail(Error::Kind::usage,
                "{0} and {1} cannot be adjacent: {2} must come after {0} and {3} before {1}, but "
                "{2} precedes {3}",
                name(range_.held_before), name(range_.held_after), name(range_.before),
                name(range_.after));
  }

  // Returns the number of remaining nodes before the position.
  [[nodiscard]] std::size_t rank(std::size_t position) const {
    return position - static_cast<std::size_t>(
                          std::lower_bound(positions_.begin(), positions_.end(), position) -
                          positions_.begin());
  }
  [[nodiscard]] bool is_in_block(std::size_t position) const {
    return std::binary_search(positions_.begin(), positions_.end(), position);
  }

  void bound_by_walls(NodeId id) {
    if (const NodeId wall = dependencies_.wall_before(id))
      range_.first = std::max(range_.first, rank(position_of_(wall)) + 1);
    if (const NodeId wall = dependencies_.wall_after(id))
      range_.last = std::min(range_.last, rank(position_of_(wall)));
  }

  // A wall bounds the block even if no node of the block depends on it.
  [[nodiscard]] bool is_wall(NodeId id) const { return jointer::is_wall(graph_.node(id)); }

  void bound_below(const Dependency& d, NodeId held) {
    const std::size_t position = position_of_(d.node);
    if (is_wall(d.node) || is_in_block(position)) return;
    const std::size_t gap = rank(position) + 1;
    if (gap < range_.first || (gap == range_.first && range_.after)) return;
    range_.first = gap;
    range_.after = d.node;
    range_.held_after = held;
    range_.after_kind = d.kind;
    range_.after_reason = d.reason;
  }

  void bound_above(const Dependency& d, NodeId held) {
    const std::size_t position = position_of_(d.node);
    if (is_wall(d.node) || is_in_block(position)) return;
    const std::size_t gap = rank(position);
    if (gap > range_.last || (gap == range_.last && range_.before)) return;
    range_.last = gap;
    range_.before = d.node;
    range_.held_before = held;
    range_.before_kind = d.kind;
    range_.before_reason = d.reason;
  }

  const Graph& graph_;
  const Dependencies& dependencies_;
  std::span<const NodeId> block_;
  std::size_t order_size_;
  PositionOf position_of_;
  std::vector<std::size_t> positions_;  // positions of the block's nodes, sorted
  LegalRange range_;
};

// Explains why two nodes must keep their order although neither reads the other's result.
std::string_view text_of(ControlReason reason) {
  switch (reason) {
    case ControlReason::none:
      return "one of them writes to memory that the other uses";
    case ControlReason::draws:
      return "both may draw from a random generator or set its state";
    case ControlReason::acts:
      return "both may have side effects or fail a check";
    case ControlReason::symbol:
      return "one defines a symbol that the other uses";
    case ControlReason::check:
      return "one checks a symbol that the other uses";
    case ControlReason::separates:
      break;
  }
  return "nothing moves across a stream operator, a change of the grad mode or a write to unknown "
         "memory";
}

std::string kept(const Graph& graph, NodeId holder, NodeId held, ControlReason reason,
                 std::string_view side) {
  return fmt::format("Held by {}: {} must stay {} it, because {}.", graph.name(holder),
                     graph.name(held), side, text_of(reason));
}

}  // namespace

Result<LegalRange> legal_range(const Graph& graph, const Dependencies& dependencies,
                               std::span<const NodeId> block) {
  return RangeFinder(graph, dependencies, block, graph.order().size(),
                     [&](NodeId id) { return graph.position(id); })
      .run();
}

Result<LegalRange> legal_range(const Graph& graph, const Dependencies& dependencies,
                               std::span<const NodeId> block,
                               std::span<const std::uint32_t> positions) {
  return RangeFinder(graph, dependencies, block, graph.order().size(),
                     [&](NodeId id) { return std::size_t{positions[id.index()]}; })
      .run();
}

std::string earliest_reason(const Graph& graph, const LegalRange& range) {
  if (!range.after) return {};
  if (range.after_kind != DependencyKind::data)
    return kept(graph, range.after, range.held_after, range.after_reason, "after");
  return fmt::format("Held by {}: earlier, {} would read it before it exists.",
                     graph.name(range.after), graph.name(range.held_after));
}

std::string latest_reason(const Graph& graph, const LegalRange& range) {
  if (!range.before) return {};
  if (range.before_kind != DependencyKind::data)
    return kept(graph, range.before, range.held_before, range.before_reason, "before");
  return fmt::format("Held by {}: later, it would read {} before that exists.",
                     graph.name(range.before), graph.name(range.held_before));
}

}  // namespace jointer
