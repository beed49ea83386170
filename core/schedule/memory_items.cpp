#include "core/schedule/memory_items.h"

#include <algorithm>

#include "core/schedule/collective_waits.h"

namespace jointer {
namespace {

using Pair = std::pair<std::uint32_t, NodeId>;

// The same call may occur twice in a row for an item, for example if it takes the item by two
// names.
void remove_repeats(std::vector<Pair>& pairs) {
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.first < b.first; });
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
}

}  // namespace

MemoryItems::MemoryItems(const Graph& graph, const MemoryOptions& options,
                         const MovableOrder& calls)
    : allocated(graph.node_count(), 0),
      freed(graph.node_count(), 0),
      fixed_high(calls.size(), 0),
      fixed_low(calls.size(), 0) {
  const MemoryTimeline timeline(graph, options);
  find_touches(graph, calls, timeline.lifetimes(), options.rules == MemoryRules::torch);
  fix_ends(graph, calls, timeline.lifetimes());
}

void MemoryItems::find_touches(const Graph& graph, const MovableOrder& calls,
                               std::span<const Lifetime> lifetimes, bool is_torch) {
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::vector<std::uint32_t> item_of_storage(graph.storage_count(), kNone);
  std::vector<std::uint32_t> copy_of_start(graph.node_count(), kNone);
  items.reserve(lifetimes.size());
  for (const Lifetime& l : lifetimes) {
    const auto item = static_cast<std::uint32_t>(items.size());
    if (l.storage)
      item_of_storage[l.storage.index()] = item;
    else if (graph.node(l.producer).kind == NodeKind::call)
      copy_of_start[l.producer.index()] = item;
    items.push_back({.bytes = l.bytes});
  }

  const CollectiveWaits waits(graph);
  std::vector<Pair> made, used;
  const auto touch = [&](NodeId of, NodeId by, std::vector<Pair>& list) {
    for (const Tensor& t : graph.tensors(of)) {
      if (!t.storage) continue;
      const StorageId storage = counted_storage(graph, t, is_torch);
      if (const std::uint32_t item = item_of_storage[storage.index()]; item != kNone)
        list.emplace_back(item, by);
    }
  };
  for (const NodeId id : calls.nodes()) {
    const Node& n = graph.node(id);
    touch(id, id, made);
    for (const NodeId input : graph.inputs(n)) touch(input, id, used);
    if (copy_of_start[id.index()] != kNone) made.emplace_back(copy_of_start[id.index()], id);
    const NodeId start = waits.ended_by(n);
    if (!start) continue;
    // The inputs of a collective stay until its wait, and so does the library's copy.
    if (!is_torch)
      for (const NodeId input : graph.inputs(start)) touch(input, id, used);
    if (const std::uint32_t copy = copy_of_start[start.index()]; copy != kNone)
      used.emplace_back(copy, id);
  }
  // If a storage is on several devices, only tensors on one device count.
  std::erase_if(made, [&](const Pair& p) {
    return static_cast<std::int64_t>(calls.place(p.second)) < lifetimes[p.first].first;
  });
  remove_repeats(made);
  remove_repeats(used);
  makers = Lists<NodeId>::of_pairs(made, items.size());
  users = Lists<NodeId>::of_pairs(used, items.size());
}

void MemoryItems::fix_ends(const Graph& graph, const MovableOrder& calls,
                           std::span<const Lifetime> lifetimes) {
  const std::size_t end = calls.size();
  for (std::size_t i = 0; i < items.size(); ++i) {
    Item& item = items[i];
    const Lifetime& l = lifetimes[i];
    item.begins_fixed = graph.node(l.producer).kind != NodeKind::call;
    if (item.begins_fixed) {
      if (l.first < 0) start_bytes += item.bytes;
      if (const auto first = static_cast<std::size_t>(std::max(l.first, 0)); first < end) {
        fixed_high[first] += item.bytes;
        fixed_low[first] += item.bytes;
      }
    } else {
      item.begins = item.ends = makers.of(i).front();
      allocated[item.begins.index()] += item.bytes;
    }
    std::int64_t last = item.begins_fixed ? std::int64_t{-2} : l.first;
    if (const auto last_users = users.of(i); !last_users.empty()) {
      if (const auto used = static_cast<std::int64_t>(calls.place(last_users.back()));
          used > last) {
        item.ends = last_users.back();
        last = used;
      }
    }
    item.ends_fixed = l.last > last;
    if (!item.ends_fixed) {
      freed[item.ends.index()] += item.bytes;
    } else if (static_cast<std::size_t>(l.last) < end) {
      fixed_low[static_cast<std::size_t>(l.last)] -= item.bytes;
      if (static_cast<std::size_t>(l.last) + 1 < end)
        fixed_high[static_cast<std::size_t>(l.last) + 1] -= item.bytes;
    }
  }
  // Turns changes into sums. A change after the frees of a place also counts from the next place
  // on.
  std::int64_t high = 0;
  std::vector<std::int64_t> low_changes = fixed_low;
  std::int64_t low = 0;
  for (std::size_t place = 0; place < end; ++place) {
    high += fixed_high[place];
    low += low_changes[place];
    fixed_high[place] = high;
    fixed_low[place] = low;
  }

  std::vector<std::pair<std::uint32_t, std::uint32_t>> touched;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].begins_fixed && items[i].ends_fixed) continue;
    for (const auto* list : {&makers, &users})
      for (const NodeId id : list->of(i))
        touched.emplace_back(id.value(), static_cast<std::uint32_t>(i));
  }
  of_node = Lists<std::uint32_t>::of_pairs(touched, graph.node_count());
}

}  // namespace jointer
