// Reorders the extracted halves, which are in the order of the joint graph, as
// torch._functorch.partitioners does.
//
// mimic_autograd_order (reordering_to_mimic_autograd_engine): starting at the first call that reads
// a tangent, runs each call in order, preceded by the calls that it needs and that have not run
// yet, in their order. A value is thus recomputed when it is first needed, not at the start.
// Earlier calls that nothing needs are dropped, except aten.copy_. If nothing reads a tangent,
// nothing changes.
//
// raise_getitems: moves each getitem to right after the call that it reads, from the last getitem
// to the first.
//
// drop_unread_collectives: default_partition eliminates dead code once more, with a predicate that
// treats everything but functional collectives as impure. Collectives and waits that nothing reads
// are dropped; their inputs stay, although nothing needs them.
//
// Cost: linear in the edges, plus sorting the recomputed calls.

#include "core/partition/backward_order.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/partition/recompute_tags.h"

namespace jointer {
namespace {

constexpr std::string_view kCopy = "aten.copy_.default";
constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

class AutogradOrder {
 public:
  AutogradOrder(const Graph& joint, std::span<const NodeId> inputs, std::span<const NodeId> calls)
      : joint_(joint), calls_(calls), place_(joint.node_count(), kNowhere) {
    is_done_.assign(joint.node_count(), false);
    for (const NodeId id : inputs) is_done_[id.index()] = true;
    for (std::size_t i = 0; i < calls.size(); ++i) place_[calls[i].index()] = i;
  }

  // The first call that reads one of `tangents`; calls.size() if no call does.
  [[nodiscard]] std::size_t first_reader(std::span<const NodeId> tangents) const {
    std::vector<bool> is_tangent(joint_.node_count(), false);
    for (const NodeId id : tangents) is_tangent[id.index()] = true;
    const auto first = std::ranges::find_if(calls_, [&](NodeId id) {
      return std::ranges::any_of(joint_.inputs(id),
                                 [&](NodeId input) { return is_tangent[input.index()]; });
    });
    return static_cast<std::size_t>(first - calls_.begin());
  }

  // Runs `roots`, preceded by what they need.
  void run(std::span<const NodeId> roots) {
    std::vector<std::size_t> needed;
    std::vector<NodeId> pending(roots.begin(), roots.end());
    while (!pending.empty()) {
      const NodeId id = pending.back();
      pending.pop_back();
      if (!id || is_done_[id.index()]) continue;
      is_done_[id.index()] = true;
      needed.push_back(place_[id.index()]);
      const auto inputs = joint_.inputs(id);
      pending.insert(pending.end(), inputs.begin(), inputs.end());
    }
    std::ranges::sort(needed);
    for (const std::size_t place : needed) order_.push_back(calls_[place]);
  }

  std::vector<NodeId> take() { return std::move(order_); }

 private:
  const Graph& joint_;
  std::span<const NodeId> calls_;
  std::vector<std::size_t> place_;  // by node, among the calls
  std::vector<bool> is_done_;       // by node
  std::vector<NodeId> order_;
};

bool reads(std::span<const NodeId> outputs, std::span<const NodeId> tangents) {
  return std::ranges::any_of(outputs, [&](NodeId output) {
    return output && std::ranges::find(tangents, output) != tangents.end();
  });
}

void mimic_autograd_order(const Graph& joint, std::span<const NodeId> inputs,
                          std::span<const NodeId> tangents, Half& backward) {
  const std::vector<NodeId> calls = std::move(backward.calls);
  AutogradOrder order(joint, inputs, calls);
  const std::size_t first = order.first_reader(tangents);
  if (first == calls.size() && !reads(backward.outputs, tangents)) {
    backward.calls = calls;
    return;
  }
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (i >= first || joint.target(joint.node(calls[i])) == kCopy)
      order.run(std::span(&calls[i], 1));
  order.run(backward.outputs);
  backward.calls = order.take();
}

void raise_getitems(const Graph& joint, Half& half) {
  // A circular list, linked by position; the last position is the head.
  const std::vector<NodeId> calls = std::move(half.calls);
  const std::size_t end = calls.size();
  std::vector<std::size_t> next(end + 1), previous(end + 1), place(joint.node_count(), end);
  for (std::size_t i = 0; i <= end; ++i) {
    next[i] = i == end ? 0 : i + 1;
    previous[i] = i == 0 ? end : i - 1;
    if (i < end) place[calls[i].index()] = i;
  }
  for (std::size_t i = end; i-- > 0;) {
    const Node& node = joint.node(calls[i]);
    if (node.kind != NodeKind::call || !joint.op(node).is_getitem || node.input_count != 1)
      continue;
    const std::size_t after = place[joint.inputs(calls[i]).front().index()];
    if (next[after] == i) continue;
    next[previous[i]] = next[i];
    previous[next[i]] = previous[i];
    next[i] = next[after];
    previous[i] = after;
    previous[next[after]] = i;
    next[after] = i;
  }
  half.calls.clear();
  half.calls.reserve(end);
  for (std::size_t i = next[end]; i != end; i = next[i]) half.calls.push_back(calls[i]);
}

void drop_unread_collectives(const Graph& joint, Half& half) {
  std::vector<bool> is_read(joint.node_count(), false);
  for (const NodeId output : half.outputs)
    if (output) is_read[output.index()] = true;
  std::vector<NodeId> kept;
  for (std::size_t i = half.calls.size(); i-- > 0;) {
    const NodeId id = half.calls[i];
    const Node& node = joint.node(id);
    if (!is_read[id.index()] && node.kind == NodeKind::call &&
        joint.op(node).space() == "_c10d_functional")
      continue;
    for (const NodeId input : joint.inputs(id)) is_read[input.index()] = true;
    kept.push_back(id);
  }
  std::ranges::reverse(kept);
  half.calls = std::move(kept);
}

}  // namespace

void arrange_forward(const Graph& joint, Partitioner partitioner, Half& forward) {
  if (partitioner == Partitioner::default_partition) drop_unread_collectives(joint, forward);
  raise_getitems(joint, forward);
}

void arrange_backward(const Graph& joint, Partitioner partitioner, std::span<const NodeId> inputs,
                      std::span<const NodeId> tangents, Half& backward) {
  const bool is_default = partitioner == Partitioner::default_partition;
  if (is_default) drop_unread_collectives(joint, backward);
  // The default partitioner keeps the joint graph's order if nothing is tagged for recomputation.
  if (!is_default ||
      std::ranges::any_of(joint.order(), [&](NodeId id) { return must_recompute(joint.node(id)); }))
    mimic_autograd_order(joint, inputs, tangents, backward);
  raise_getitems(joint, backward);
}

}  // namespace jointer
