#include "core/schedule/memory_items.h"

#include <algorithm>
#include <numeric>

#include "core/schedule/memory_walk.h"

namespace jointer {
namespace {

using Pair = std::pair<std::uint32_t, NodeId>;

// Sorts the pairs by item, and removes repeated pairs, which occur if a call reads an item through
// several inputs.
void remove_repeats(std::vector<Pair>& pairs) {
  std::ranges::stable_sort(pairs, [](const Pair& a, const Pair& b) { return a.first < b.first; });
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
}

// Collects the items that calls make and use. The start of a collective makes the copy that the
// library allocates, and the wait uses that copy.
class Touches : public GraphCalls {
 public:
  Touches(const Graph& graph, const MovableOrder& calls, std::span<const Lifetime> lifetimes,
          bool is_torch)
      : GraphCalls(graph),
        calls_(calls),
        is_torch_(is_torch),
        item_of_storage_(graph.storage_count(), kNone),
        copy_of_start_(graph.node_count(), kNone) {
    for (std::uint32_t item = 0; item < lifetimes.size(); ++item)
      if (const Lifetime& l = lifetimes[item]; l.storage)
        item_of_storage_[l.storage.index()] = item;
      else if (graph.node(l.producer).kind == NodeKind::call)
        copy_of_start_[l.producer.index()] = item;
  }

  void allocate(Call call, std::int32_t) { touch(*call.node, call.id, made); }
  void use_inputs(Call call, std::int32_t) {
    for (const NodeId input : graph_.inputs(*call.node)) touch(graph_.node(input), call.id, used);
  }
  void start(Call call, std::int32_t) {
    if (const std::uint32_t copy = copy_of_start_[index(call)]; copy != kNone)
      made.emplace_back(copy, call.id);
  }
  void keep_inputs(Call start, std::int32_t step) {
    const NodeId wait = calls_[static_cast<std::size_t>(step)];
    if (!is_torch_)
      for (const NodeId input : graph_.inputs(*start.node)) touch(graph_.node(input), wait, used);
    if (const std::uint32_t copy = copy_of_start_[index(start)]; copy != kNone)
      used.emplace_back(copy, wait);
  }

  std::vector<Pair> made, used;

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  void touch(const Node& of, NodeId by, std::vector<Pair>& list) const {
    for (const Tensor& t : graph_.tensors(of)) {
      if (!t.storage) continue;
      const StorageId storage = counted_storage(graph_, t, is_torch_);
      if (const std::uint32_t item = item_of_storage_[storage.index()]; item != kNone)
        list.emplace_back(item, by);
    }
  }

  const MovableOrder& calls_;
  bool is_torch_;
  std::vector<std::uint32_t> item_of_storage_, copy_of_start_;
};

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
  items.reserve(lifetimes.size());
  for (const Lifetime& l : lifetimes) items.push_back({.bytes = l.bytes});
  Touches touches(graph, calls, lifetimes, is_torch);
  MemoryWalk walk(touches, graph.node_count());
  for (const NodeId id : calls.nodes()) walk.run({id, &graph.node(id)});
  std::vector<Pair>&made = touches.made, &used = touches.used;
  // A storage with tensors on several devices counts only from its first tensor on the counted
  // device.
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
  for (auto* sums : {&fixed_high, &fixed_low})
    std::partial_sum(sums->begin(), sums->end(), sums->begin());

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
