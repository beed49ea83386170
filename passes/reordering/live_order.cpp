// Computes live bytes while calls swap with their neighbors.
//
// Terms
//   item   something that is allocated once and freed once: a storage, or a collective's temporary
//          memory (core/schedule/memory_items.h). A collective uses its inputs until its wait.
//   loose  an item that several calls produce without reading it from one another, so that the
//          first of these calls allocates it. Captures rarely contain such items.
//
// Each step swaps a group with an adjacent call. The call that allocates an item stays the same,
// because the other calls that produce the item also read it and so stay after that call. The call
// that frees the item changes in two cases:
//   - the call moves after the group and uses an item whose last user was in the group: the call
//     now frees it;
//   - the call was the last user of an item and moves before the group: the last user in the group
//     now frees it, if there is one.
// The lifetimes of loose items are computed from scratch. Then the live bytes at the positions of
// the swap are summed again. After these positions, the same calls have run as before, so nothing
// changes.
//
// Cost of a swap: linear in the size of the group and in the number of items that the call uses; in
// the second case, also in the number of users of the items that the call freed.
// Source: torch/_inductor/comms.py, _find_buffers_with_changed_last_use etc. Deviations: upstream
// computes the group's peak when calls join the group but does not update it as the group moves, so
// the budget may be exceeded; here the peak is exact after every swap.

#include "passes/reordering/live_order.h"

#include <algorithm>
#include <numeric>

namespace jointer {

LiveOrder::LiveOrder(const Graph& graph, const MemoryOptions& options, const Calls& calls)
    : calls_(calls),
      items_(graph, options,
             MovableOrder(std::vector<NodeId>(calls.nodes().begin(), calls.nodes().end()),
                          graph.node_count())),
      is_loose_(items_.items.size(), false),
      order_(calls.size()),
      places_(calls.size()),
      high_(calls.size()),
      low_(calls.size()) {
  std::iota(order_.begin(), order_.end(), Call{0});
  std::iota(places_.begin(), places_.end(), std::uint32_t{0});
  find_loose();
  sum_up(0, order_.size());
}

void LiveOrder::find_loose() {
  for (std::size_t i = 0; i < items_.items.size(); ++i) {
    if (items_.items[i].begins_fixed) continue;
    const auto users = items_.users.of(i);
    for (const NodeId maker : items_.makers.of(i)) {
      if (maker == items_.items[i].begins) continue;
      if (std::ranges::find(users, maker) == users.end()) is_loose_[i] = true;
    }
    any_loose_ = any_loose_ || is_loose_[i];
  }
}

std::int64_t LiveOrder::peak(Stretch stretch) const {
  std::int64_t max_live = 0;
  for (std::size_t i = stretch.first; i < stretch.last; ++i)
    max_live = std::max(max_live, high_[i]);
  return max_live;
}

void LiveOrder::end_with(std::uint32_t item, NodeId node) {
  MemoryItems::Item& changed = items_.items[item];
  items_.freed[changed.ends.index()] -= changed.bytes;
  items_.freed[node.index()] += changed.bytes;
  changed.ends = node;
}

// Computes the beginning and end of an item's lifetime from scratch.
void LiveOrder::settle(std::uint32_t item) {
  MemoryItems::Item& changed = items_.items[item];
  const auto earlier = [&](NodeId a, NodeId b) { return places_[call(a)] < places_[call(b)]; };
  const auto makers = items_.makers.of(item), users = items_.users.of(item);
  if (!changed.begins_fixed) {
    items_.allocated[changed.begins.index()] -= changed.bytes;
    changed.begins = *std::ranges::min_element(makers, earlier);
    items_.allocated[changed.begins.index()] += changed.bytes;
  }
  if (changed.ends_fixed) return;
  NodeId last = changed.begins;
  if (!users.empty()) {
    const NodeId user = *std::ranges::max_element(users, earlier);
    if (changed.begins_fixed || earlier(last, user)) last = user;
  }
  end_with(item, last);
}

void LiveOrder::settle_loose(std::size_t first, std::size_t last) {
  if (!any_loose_) return;
  for (std::size_t i = first; i < last; ++i)
    for (const std::uint32_t item : items_of(order_[i]))
      if (is_loose_[item]) settle(item);
}

std::int64_t LiveOrder::raise(std::size_t first, std::size_t count) {
  const Call moved = order_[first - 1];
  const NodeId node = calls_.node(moved);
  for (const std::uint32_t item : items_of(moved)) {
    const MemoryItems::Item& used = items_.items[item];
    if (used.ends_fixed || used.ends == node || is_loose_[item]) continue;
    if (is_at(call(used.ends), first, count)) end_with(item, node);
  }
  std::rotate(order_.begin() + static_cast<std::ptrdiff_t>(first - 1),
              order_.begin() + static_cast<std::ptrdiff_t>(first),
              order_.begin() + static_cast<std::ptrdiff_t>(first + count));
  for (std::size_t i = first - 1; i < first + count; ++i)
    places_[order_[i]] = static_cast<std::uint32_t>(i);
  settle_loose(first - 1, first + count);
  return sum_up(first - 1, first + count);
}

std::int64_t LiveOrder::sink(std::size_t first, std::size_t count) {
  const std::size_t at = first + count;
  const Call moved = order_[at];
  const NodeId node = calls_.node(moved);
  for (const std::uint32_t item : items_of(moved)) {
    const MemoryItems::Item& used = items_.items[item];
    if (used.ends_fixed || used.ends != node || is_loose_[item]) continue;
    NodeId last;
    std::size_t last_place = 0;
    for (const NodeId user : items_.users.of(item)) {
      const Call other = call(user);
      if (!is_at(other, first, count) || (last && places_[other] < last_place)) continue;
      last = user;
      last_place = places_[other];
    }
    if (last) end_with(item, last);
  }
  std::rotate(order_.begin() + static_cast<std::ptrdiff_t>(first),
              order_.begin() + static_cast<std::ptrdiff_t>(at),
              order_.begin() + static_cast<std::ptrdiff_t>(at + 1));
  for (std::size_t i = first; i <= at; ++i) places_[order_[i]] = static_cast<std::uint32_t>(i);
  settle_loose(first, at + 1);
  return sum_up(first, at + 1);
}

std::int64_t LiveOrder::sum_up(std::size_t first, std::size_t last) {
  std::int64_t live = first == 0 ? 0 : low_[first - 1] - items_.fixed_low[first - 1];
  std::int64_t max_live = 0;
  for (std::size_t i = first; i < last; ++i) {
    const std::size_t node = calls_.node(order_[i]).index();
    live += items_.allocated[node];
    high_[i] = items_.fixed_high[i] + live;
    max_live = std::max(max_live, high_[i]);
    live -= items_.freed[node];
    low_[i] = items_.fixed_low[i] + live;
  }
  return max_live;
}

}  // namespace jointer
