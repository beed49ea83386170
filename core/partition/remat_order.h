#pragma once

// Determines which calls of a flat training step are recomputed and where, given the tags. The
// rules are the same for the pass that rewrites the graph (core/policy/remat.cpp, which states
// them) and for plans that are only evaluated (flat_order.cpp).
//
// `Nodes` provides
//   Node                  a type that identifies a node
//   order()               all nodes in program order
//   position(node)        the position of a node in that order
//   index(node), count()  the index of a node, and the number of indices
//   inputs(node)          the nodes that a node reads
//   is_backward_call(node), is_recomputable(node), is_getitem(node), is_call(node)
//   is_wall(node)         true for a placeholder or output

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// The runs of backward calls that may read recomputed values, in order. A run is a sequence of
// backward calls with nothing but constants between them.
std::vector<std::vector<NodeId>> backward_runs(const Graph& graph);

template <class Nodes>
class RematOrder {
 public:
  using Node = typename Nodes::Node;
  static constexpr std::size_t kNever = SIZE_MAX;

  // A node in the resulting order: an original or a copy.
  struct OrderedNode {
    Node node;
    bool is_copy = false;
    std::size_t constant = 0;  // for a copy of a constant: its number, from 1; else 0
    friend bool operator==(const OrderedNode&, const OrderedNode&) = default;
  };

  // `nodes` must outlive this object.
  explicit RematOrder(const Nodes& nodes)
      : nodes_(nodes),
        before_(nodes.count(), kNever),
        moved_before_(nodes.count(), kNever),
        is_erased_(nodes.count(), 0),
        first_ahead_(nodes.order().size(), kEnd),
        last_ahead_(nodes.order().size(), kEnd) {}

  // --- Steps 1 and 2: recomputed calls ---

  void gather(std::span<const Node> region) {
    std::vector<Node> open;
    for (const Node reader : region) {
      const std::size_t place = nodes_.position(reader);
      const auto push_inputs = [&](Node of) {
        for (const Node input : nodes_.inputs(of))
          if (before_[nodes_.index(input)] == kNever && nodes_.is_recomputable(input))
            open.push_back(input);
      };
      push_inputs(reader);
      while (!open.empty()) {
        const Node at = open.back();
        open.pop_back();
        if (before_[nodes_.index(at)] != kNever) continue;
        before_[nodes_.index(at)] = place;
        gathered_.push_back(at);
        push_inputs(at);
      }
    }
    std::sort(gathered_.begin(), gathered_.end(),
              [&](Node a, Node b) { return nodes_.position(a) < nodes_.position(b); });
  }

  // The recomputed calls, in program order.
  [[nodiscard]] const std::vector<Node>& gathered() const { return gathered_; }
  [[nodiscard]] bool is_gathered(Node node) const { return before_[nodes_.index(node)] != kNever; }
  // For a recomputed call, the position of the call before which its copy is inserted; else kNever.
  [[nodiscard]] std::size_t before(Node node) const { return before_[nodes_.index(node)]; }

  // Moves the node's copy, and the copies that it reads, before the call at this position, unless
  // they are already there or earlier. Returns true if any copy moved.
  bool bring_before(Node node, std::size_t place) {
    bool has_changed = false;
    std::vector<Node> open{node};
    while (!open.empty()) {
      const Node at = open.back();
      open.pop_back();
      std::size_t& before = before_[nodes_.index(at)];
      if (before == kNever || before <= place) continue;
      before = place;
      has_changed = true;
      const auto inputs = nodes_.inputs(at);
      open.insert(open.end(), inputs.begin(), inputs.end());
    }
    return has_changed;
  }

  // True if a reader of a recomputed value reads the copy instead of the original.
  [[nodiscard]] bool reads_copy(Node reader, Node value) const {
    return nodes_.is_backward_call(reader) && nodes_.position(reader) >= before(value);
  }

  // --- Step 3: copies ---

  // Moves `back`, the wait for a value's copy from the host, and the backward calls that it depends
  // on before the call at this position. Returns the moved calls, in program order.
  std::vector<Node> bring_back_before(Node back, std::size_t place) {
    std::vector<Node> chain;
    std::vector<Node> open{back};
    while (!open.empty()) {
      const Node at = open.back();
      open.pop_back();
      if (!nodes_.is_backward_call(at) || place_of(at) <= place) continue;
      if (std::find(chain.begin(), chain.end(), at) != chain.end()) continue;
      chain.push_back(at);
      const auto inputs = nodes_.inputs(at);
      open.insert(open.end(), inputs.begin(), inputs.end());
    }
    std::sort(chain.begin(), chain.end(),
              [&](Node a, Node b) { return nodes_.position(a) < nodes_.position(b); });
    for (const Node at : chain) {
      std::size_t& moved = moved_before_[nodes_.index(at)];
      if (moved != kNever) remove(moved, {at});
      moved = place;
      insert_before(place, {at});
    }
    return chain;
  }

  // Inserts a node before the call at this position, after those inserted there so far.
  void insert_before(std::size_t place, const OrderedNode& node) {
    const auto entry = static_cast<std::uint32_t>(ahead_.size());
    ahead_.push_back({node, kEnd});
    if (first_ahead_[place] == kEnd)
      first_ahead_[place] = entry;
    else
      ahead_[last_ahead_[place]].next = entry;
    last_ahead_[place] = entry;
  }

  // --- Step 5: originals without readers ---

  // Finds the originals to remove. `stays`: true for originals to keep, by index; may be empty.
  void find_unread(const std::vector<std::uint8_t>& stays) {
    std::vector<std::uint8_t> is_read(nodes_.count(), 0);
    const auto order = nodes_.order();
    for (std::size_t i = order.size(); i-- > 0;) {
      const Node node = order[i];
      const std::size_t index = nodes_.index(node);
      is_erased_[index] =
          before_[index] != kNever && is_read[index] == 0 && (stays.empty() || stays[index] == 0);
      if (is_erased_[index] != 0) continue;
      for (const Node input : nodes_.inputs(node))
        if (before_[nodes_.index(input)] != kNever && !reads_copy(node, input))
          is_read[nodes_.index(input)] = 1;
    }
  }
  [[nodiscard]] bool is_erased(Node node) const { return is_erased_[nodes_.index(node)] != 0; }

  // The resulting order before step 6.
  [[nodiscard]] std::vector<OrderedNode> order() const {
    std::vector<OrderedNode> order;
    order.reserve(nodes_.order().size() + ahead_.size());
    std::size_t place = 0;
    for (const Node node : nodes_.order()) {
      for (std::uint32_t at = first_ahead_[place]; at != kEnd; at = ahead_[at].next)
        order.push_back(ahead_[at].node);
      if (!is_erased(node) && moved_before_[nodes_.index(node)] == kNever) order.push_back({node});
      ++place;
    }
    return order;
  }

  // --- Step 6: getitems ---

  // The elements of a tuple that must move. All members are indices in an order: `parts`, the
  // elements, move right before `next`, which follows the tuple's call `whole` and the elements
  // that are already in place. raises() sorts from the last `whole` to the first.
  struct Raise {
    std::size_t whole = 0, next = 0;
    std::vector<std::size_t> parts;
  };
  [[nodiscard]] std::vector<Raise> raises(std::span<const OrderedNode> order) const {
    std::vector<std::size_t> places(nodes_.count()), copy_places(nodes_.count());
    std::map<std::size_t, std::vector<std::size_t>> parts;  // by index of the tuple's call
    for (std::size_t i = 0; i < order.size(); ++i)
      if (order[i].constant == 0)
        (order[i].is_copy ? copy_places : places)[nodes_.index(order[i].node)] = i;
    std::size_t last = kNever;
    std::vector<std::size_t>* of_last = nullptr;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (order[i].constant != 0 || !nodes_.is_getitem(order[i].node)) continue;
      const OrderedNode whole = whole_of(order[i]);
      if (!nodes_.is_call(whole.node)) continue;
      const std::size_t place = (whole.is_copy ? copy_places : places)[nodes_.index(whole.node)];
      if (place != last) of_last = &parts[last = place];
      of_last->push_back(i);
    }
    std::vector<Raise> found;
    for (auto it = parts.rbegin(); it != parts.rend(); ++it) {
      const auto& [whole, of_it] = *it;
      if (of_it.back() == whole + of_it.size()) continue;  // already in place
      const bool over_wall =
          std::any_of(order.begin() + static_cast<std::ptrdiff_t>(whole),
                      order.begin() + static_cast<std::ptrdiff_t>(of_it.back()),
                      [&](const OrderedNode& at) { return nodes_.is_wall(at.node); });
      if (over_wall) continue;
      Raise raise{.whole = whole, .next = whole + 1, .parts = {}};
      for (const std::size_t i : of_it) {
        if (i == raise.next)
          ++raise.next;
        else
          raise.parts.push_back(i);
      }
      found.push_back(std::move(raise));
    }
    return found;
  }

 private:
  struct Ahead {
    OrderedNode node;
    std::uint32_t next;
  };
  static constexpr std::uint32_t kEnd = ~std::uint32_t{0};

  // The position of a call or, if the call was moved, of the call that it was moved before.
  [[nodiscard]] std::size_t place_of(Node node) const {
    const std::size_t moved = moved_before_[nodes_.index(node)];
    return moved == kNever ? nodes_.position(node) : moved;
  }
  void remove(std::size_t place, const OrderedNode& node) {
    std::uint32_t previous = kEnd;
    for (std::uint32_t at = first_ahead_[place]; at != kEnd; previous = at, at = ahead_[at].next) {
      if (ahead_[at].node != node) continue;
      (previous == kEnd ? first_ahead_[place] : ahead_[previous].next) = ahead_[at].next;
      if (last_ahead_[place] == at) last_ahead_[place] = previous;
      return;
    }
  }
  // The call whose result a getitem reads.
  [[nodiscard]] OrderedNode whole_of(const OrderedNode& getitem) const {
    const Node whole = *nodes_.inputs(getitem.node).begin();
    if (!is_gathered(whole)) return {whole};
    return {whole, getitem.is_copy || reads_copy(getitem.node, whole)};
  }

  const Nodes& nodes_;
  std::vector<Node> gathered_;
  std::vector<std::size_t> before_;        // by index
  std::vector<std::size_t> moved_before_;  // by index: the position that a call was moved before
  std::vector<std::uint8_t> is_erased_;    // by index
  std::vector<Ahead> ahead_;
  // Indexed by position: the first and the last node inserted before that call, in the list ahead_.
  std::vector<std::uint32_t> first_ahead_, last_ahead_;
};

}  // namespace jointer
