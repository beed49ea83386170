// Orders the calls of a joint graph that is made from a pair.
//
// Rules
//   1. The forward's calls come in their order, then the rest of the backward in its order.
//   2. Calls of the model's forward that run only in the backward come right after the values they
//      read, where a trace has them, unless they must stay in the backward (PairMatches::is_late),
//      have effects, start asynchronous work or wait for it. Constants that only the backward reads
//      come first.
//   3. Calls of the backward's phase that run in both halves, because they need no tangent, stay
//      where the backward runs them. This applies only to calls at the end of the forward, and only
//      if the two orders agree.
//   4. Copies into inputs at the end of the forward come last, followed only by those at the end of
//      the backward, as in a trace, unless they would pass a call that reads their result, uses
//      what they write, or writes what they use.
// If anything else writes, only 1 and 4 apply.
//
// A pair does not show where the joint graph had the calls of rule 2, or those of the backward that
// need no tangent. Plans with such calls may produce pairs in a different order.
//
// Cost: linear in the edges.

#include "core/partition/joined_order.h"

#include <algorithm>
#include <limits>
#include <set>

#include "core/graph/effects.h"

namespace jointer {
namespace {

class Sorter {
 public:
  Sorter(const Graph& pair, const PairMatches& matches) : pair_(pair), matches_(matches) {}

  std::vector<NodeId> run() {
    for (const NodeId id : pair_.order())
      if (is_call(id)) (pair_.node(id).part == kForwardPart ? forward_ : backward_).push_back(id);
    const std::vector<NodeId> copies = take_copies();
    is_functional_ = !any_writes();
    move_up();
    std::vector<NodeId> order;
    if (is_functional_) order = interleaved();
    if (!is_functional_ || !is_topological(order)) order = in_turn(forward_.size(), backward_);
    order.insert(order.end(), copies.begin(), copies.end());
    return order;
  }

  [[nodiscard]] bool is_call(NodeId id) const {
    return matches_.is_own(id) && pair_.node(id).kind != NodeKind::placeholder;
  }
  [[nodiscard]] bool is_backward(NodeId id) const {
    return pair_.node(id).phase == Phase::backward;
  }

  // True for calls and constants that may run anywhere after their inputs.
  [[nodiscard]] bool may_move_up(NodeId id) const {
    const Node& n = pair_.node(id);
    if (n.kind == NodeKind::get_attr) return is_functional_;
    return is_functional_ && n.has(Node::recomputed) && !matches_.is_late(id) &&
           effects_of(pair_, n).flags == 0 && !pair_.is_asynchronous(n) && !pair_.is_wait(n);
  }

  // Rule 2.
  void move_up() {
    constexpr std::size_t kFixed = std::numeric_limits<std::size_t>::max();
    // Indexed by node: the number of forward calls that must run before the node; kFixed if it
    // stays in the backward.
    std::vector<std::size_t> after(pair_.node_count(), 0);
    for (std::size_t i = 0; i < forward_.size(); ++i) after[forward_[i].index()] = i + 1;
    for (const NodeId id : pair_.order())
      if (const Node& n = pair_.node(id);
          n.part == kBackwardPart && n.kind == NodeKind::placeholder && matches_.is_own(id))
        after[id.index()] = kFixed;
    moved_.resize(forward_.size() + 1);
    std::vector<NodeId> fixed;
    for (const NodeId id : backward_) {
      std::size_t place = may_move_up(id) ? 0 : kFixed;
      for (const NodeId input : pair_.inputs(id))
        place = std::max(place, after[matches_.now(input).index()]);
      after[id.index()] = place;
      (place == kFixed ? fixed : moved_[place]).push_back(id);
    }
    backward_ = std::move(fixed);
  }

  // The first `count` calls of the forward and the calls in `others`, in the order of rules 1 and
  // 2.
  [[nodiscard]] std::vector<NodeId> in_turn(std::size_t count,
                                            std::span<const NodeId> others) const {
    std::vector<NodeId> order = moved_.front();
    for (std::size_t i = 0; i < count; ++i) append(i, order);
    order.insert(order.end(), others.begin(), others.end());
    return order;
  }
  void append(std::size_t index, std::vector<NodeId>& order) const {
    order.push_back(forward_[index]);
    order.insert(order.end(), moved_[index + 1].begin(), moved_[index + 1].end());
  }

  // Rule 3: follows both orders. Each call that runs in both halves comes after those that either
  // half runs before it.
  [[nodiscard]] std::vector<NodeId> interleaved() const {
    std::size_t first = forward_.size();
    while (first > 0 && is_backward(forward_[first - 1])) --first;
    std::vector<std::size_t> index(pair_.node_count(), 0);  // index + 1; 0 before `first`
    for (std::size_t i = first; i < forward_.size(); ++i) index[forward_[i].index()] = i + 1;
    std::vector<NodeId> order = in_turn(first, {});
    const std::set<NodeId> own(backward_.begin(), backward_.end());
    std::size_t next = first;
    for (const NodeId id : pair_.order()) {
      const Node& n = pair_.node(id);
      if (n.part != kBackwardPart || n.kind == NodeKind::placeholder) continue;
      const NodeId now = matches_.now(id);
      if (own.contains(id)) {
        order.push_back(id);
      } else if (now != id && !matches_.is_dropped(id)) {
        for (; next < index[now.index()]; ++next) append(next, order);
      }
    }
    for (; next < forward_.size(); ++next) append(next, order);
    return order;
  }

  [[nodiscard]] bool is_topological(std::span<const NodeId> order) const {
    std::vector<bool> is_done(pair_.node_count(), false);
    for (const NodeId id : order) {
      for (const NodeId input : pair_.inputs(id)) {
        const NodeId now = matches_.now(input);
        if (pair_.node(now).kind != NodeKind::placeholder && !is_done[now.index()]) return false;
      }
      is_done[id.index()] = true;
    }
    return true;
  }

  // Rule 4: removes the copies from the calls and returns them, the forward's first.
  std::vector<NodeId> take_copies() {
    std::vector<NodeId> copies;
    if (!matches_.writes().any()) return copies;
    const std::size_t of_backward = last_copies(backward_),
                      of_forward = copies_to_move(of_backward);
    for (auto [calls, count] : {std::pair(&forward_, of_forward), {&backward_, of_backward}}) {
      const auto first = calls->end() - static_cast<std::ptrdiff_t>(count);
      copies.insert(copies.end(), first, calls->end());
      calls->erase(first, calls->end());
    }
    return copies;
  }

  [[nodiscard]] bool any_writes() const {
    std::vector<NodeId> written;
    for (const auto* calls : {&forward_, &backward_})
      for (const NodeId id : *calls) written_arguments(pair_, pair_.node(id), written);
    return !written.empty();
  }

  // The number of calls at the end whose writes all go to inputs.
  [[nodiscard]] std::size_t last_copies(std::span<const NodeId> calls) const {
    std::size_t count = 0;
    const auto is_copy = [&](NodeId id) {
      const std::vector<NodeId> written = written_arguments(pair_, pair_.node(id));
      return !written.empty() && std::ranges::all_of(written, [&](NodeId to) {
        return pair_.node(matches_.now(to)).kind == NodeKind::placeholder;
      });
    };
    while (count < calls.size() && is_copy(calls[calls.size() - 1 - count])) ++count;
    return count;
  }

  // The number of the forward's last copies into inputs; 0 if one of them must not pass a call of
  // the backward.
  [[nodiscard]] std::size_t copies_to_move(std::size_t last_of_backward) const {
    const WriteOrder& writes = matches_.writes();
    const auto copies = std::span(forward_).last(last_copies(forward_));
    const auto others = std::span(backward_).first(backward_.size() - last_of_backward);
    const std::set<NodeId> moved(copies.begin(), copies.end());
    const std::set<NodeId> passed(others.begin(), others.end());
    const auto is_moved = [&](NodeId id) { return moved.contains(matches_.now(id)); };
    const bool must_stay =
        std::ranges::any_of(others,
                            [&](NodeId id) {
                              return std::ranges::any_of(pair_.inputs(id), is_moved) ||
                                     writes.any_before(id, is_moved);
                            }) ||
        std::ranges::any_of(copies, [&](NodeId id) {
          return bool(writes.next_write(id, [&](NodeId write) { return passed.contains(write); }));
        });
    return must_stay ? 0 : copies.size();
  }

  const Graph& pair_;
  const PairMatches& matches_;
  std::vector<NodeId> forward_, backward_;  // each in its own order
  bool is_functional_ = true;               // true if none of these calls writes
  // Calls that move up, indexed by the number of forward calls that must run before them.
  std::vector<std::vector<NodeId>> moved_;
};

}  // namespace

std::vector<NodeId> joined_order(const Graph& pair, const PairMatches& matches) {
  return Sorter(pair, matches).run();
}

}  // namespace jointer
