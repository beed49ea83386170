// Live bytes under moves.
//
// Terms
//   item    what is allocated once and freed once: a storage, a collective's copy. It begins with
//           the first call that returns a tensor in it, and ends after the last call that uses it
//           (MemoryTimeline's lifetimes say which are there, and what else holds them).
//   fixed   an end that is the same whatever moves: parameters begin with the step, outputs end
//   with
//           it, a tangent begins where the backward does. Nothing moves over placeholders and
//           outputs, so these stay at their place in the order of calls.
//
// The bytes at a place are a sum over fixed ends before it, which never changes, and over the calls
// before it: what begins and what ends with each. A move changes what begins and ends only with
// items that the moved calls touch; everything else goes along with its call.
//
// A move
//   1. Takes what the block touches out of the sums of the calls where it begins and ends.
//   2. Finds their new first makers and last users.
//   3. Sums up anew over the stretch in which calls changed places. Behind it everything that the
//      stretch makes and frees is the same, so nothing changes.
//   Cost: the stretch, and for an item that the block was the last to use, its users.

#include "core/schedule/memory_what_if.h"
#include "core/schedule/collective_waits.h"

#include <algorithm>

namespace jointer {
namespace {

using Pair = std::pair<std::uint32_t, NodeId>;

// A call may be met twice in a row for the same item: as one that takes it by two names.
void remove_repeats(std::vector<Pair>& pairs) {
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.first < b.first; });
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
}

}  // namespace

MemoryWhatIf::MemoryWhatIf(const Graph& graph, const MemoryOptions& options,
                           const MovableOrder& calls)
    : allocated_(graph.node_count(), 0),
      freed_(graph.node_count(), 0),
      fixed_high_(calls.size(), 0),
      fixed_low_(calls.size(), 0),
      high_(calls.size(), 0),
      low_(calls.size(), 0),
      highest_(high_),
      is_torch_(options.rules == MemoryRules::torch) {
  const MemoryTimeline timeline(graph, options);
  find_touches(graph, calls, timeline.lifetimes());
  fix_ends(graph, calls, timeline.lifetimes());
  sum_up(calls, {0, calls.size()});
}

void MemoryWhatIf::find_touches(const Graph& graph, const MovableOrder& calls,
                                std::span<const Lifetime> lifetimes) {
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::vector<std::uint32_t> item_of_storage(graph.storage_count(), kNone);
  std::vector<std::uint32_t> copy_of_start(graph.node_count(), kNone);
  items_.reserve(lifetimes.size());
  for (const Lifetime& l : lifetimes) {
    const auto item = static_cast<std::uint32_t>(items_.size());
    if (l.storage)
      item_of_storage[l.storage.index()] = item;
    else if (graph.node(l.producer).kind == NodeKind::call)
      copy_of_start[l.producer.index()] = item;
    items_.push_back({.bytes = l.bytes});
  }

  const CollectiveWaits waits(graph);
  std::vector<Pair> makers, users;
  const auto touch = [&](NodeId made, NodeId by, std::vector<Pair>& list) {
    for (const Tensor& t : graph.tensors(made)) {
      if (!t.storage) continue;
      const StorageId storage = is_torch_ ? t.storage : graph.real_storage(t.storage);
      if (const std::uint32_t item = item_of_storage[storage.index()]; item != kNone)
        list.emplace_back(item, by);
    }
  };
  for (const NodeId id : calls.nodes()) {
    const Node& n = graph.node(id);
    touch(id, id, makers);
    for (const NodeId input : graph.inputs(n)) touch(input, id, users);
    if (copy_of_start[id.index()] != kNone) makers.emplace_back(copy_of_start[id.index()], id);
    const NodeId start = waits.ended_by(n);
    if (!start) continue;
    // What the collective reads stays until its wait, and so does what it takes beside.
    if (!is_torch_)
      for (const NodeId input : graph.inputs(start)) touch(input, id, users);
    if (const std::uint32_t copy = copy_of_start[start.index()]; copy != kNone)
      users.emplace_back(copy, id);
  }
  // Of a storage on several devices only tensors on one count.
  std::erase_if(makers, [&](const Pair& p) {
    return static_cast<std::int64_t>(calls.place(p.second)) < lifetimes[p.first].first;
  });
  remove_repeats(makers);
  remove_repeats(users);
  makers_ = Lists<NodeId>::of_pairs(makers, items_.size());
  users_ = Lists<NodeId>::of_pairs(users, items_.size());
}

void MemoryWhatIf::fix_ends(const Graph& graph, const MovableOrder& calls,
                            std::span<const Lifetime> lifetimes) {
  const std::size_t end = calls.size();
  for (std::size_t i = 0; i < items_.size(); ++i) {
    Item& item = items_[i];
    const Lifetime& l = lifetimes[i];
    item.begins_fixed = graph.node(l.producer).kind != NodeKind::call;
    if (item.begins_fixed) {
      if (l.first < 0) start_bytes_ += item.bytes;
      if (const auto first = static_cast<std::size_t>(std::max(l.first, 0)); first < end) {
        fixed_high_[first] += item.bytes;
        fixed_low_[first] += item.bytes;
      }
    } else {
      item.begins = item.ends = makers_.of(i).front();
      allocated_[item.begins.index()] += item.bytes;
    }
    std::int64_t last = item.begins_fixed ? std::int64_t{-2} : l.first;
    if (const auto users = users_.of(i); !users.empty()) {
      if (const auto used = static_cast<std::int64_t>(calls.place(users.back())); used > last) {
        item.ends = users.back();
        last = used;
      }
    }
    item.ends_fixed = l.last > last;
    if (!item.ends_fixed) {
      freed_[item.ends.index()] += item.bytes;
    } else if (static_cast<std::size_t>(l.last) < end) {
      fixed_low_[static_cast<std::size_t>(l.last)] -= item.bytes;
      if (static_cast<std::size_t>(l.last) + 1 < end)
        fixed_high_[static_cast<std::size_t>(l.last) + 1] -= item.bytes;
    }
  }
  // So far changes; a change after the frees of a place also counts from the next place on.
  std::int64_t high = 0;
  std::vector<std::int64_t> low_changes = fixed_low_;
  std::int64_t low = 0;
  for (std::size_t place = 0; place < end; ++place) {
    high += fixed_high_[place];
    low += low_changes[place];
    fixed_high_[place] = high;
    fixed_low_[place] = low;
  }

  std::vector<std::pair<std::uint32_t, std::uint32_t>> touched;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].begins_fixed && items_[i].ends_fixed) continue;
    for (const auto* list : {&makers_, &users_})
      for (const NodeId id : list->of(i))
        touched.emplace_back(id.value(), static_cast<std::uint32_t>(i));
  }
  items_of_node_ = Lists<std::uint32_t>::of_pairs(touched, graph.node_count());
}

void MemoryWhatIf::sum_up(const MovableOrder& calls, Stretch stretch) {
  std::int64_t live =
      stretch.first == 0 ? 0 : low_[stretch.first - 1] - fixed_low_[stretch.first - 1];
  for (std::size_t place = stretch.first; place < stretch.last; ++place) {
    const std::size_t node = calls[place].index();
    live += allocated_[node];
    high_[place] = fixed_high_[place] + live;
    live -= freed_[node];
    low_[place] = fixed_low_[place] + live;
  }
  highest_.update(stretch.first, stretch.last);
}

std::int64_t MemoryWhatIf::peak_bytes() const {
  return std::max(start_bytes_, highest_.largest(0, high_.size()));
}

std::vector<std::int64_t> MemoryWhatIf::profile() const {
  std::vector<std::int64_t> points{start_bytes_};
  points.reserve(1 + 2 * high_.size());
  for (std::size_t place = 0; place < high_.size(); ++place) {
    points.push_back(high_[place]);
    points.push_back(low_[place]);
  }
  return points;
}

void MemoryWhatIf::touched_by(std::span<const NodeId> block,
                              std::vector<std::uint32_t>& items) const {
  items.clear();
  for (const NodeId id : block) {
    const auto touched = items_of_node_.of(id.index());
    items.insert(items.end(), touched.begin(), touched.end());
  }
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

void MemoryWhatIf::detach(std::span<const NodeId> block) {
  touched_by(block, detached_);
  for (const std::uint32_t i : detached_) {
    const Item& item = items_[i];
    if (!item.begins_fixed) allocated_[item.begins.index()] -= item.bytes;
    if (!item.ends_fixed) freed_[item.ends.index()] -= item.bytes;
  }
}

void MemoryWhatIf::attach(std::span<const NodeId> block, const MovableOrder& calls,
                          Stretch changed) {
  const std::size_t first = calls.place(block.front());
  const auto is_in_block = [&](NodeId id) { return calls.place(id) - first < block.size(); };
  const auto earlier = [&](NodeId a, NodeId b) { return calls.place(a) < calls.place(b); };
  for (const std::uint32_t i : detached_) {
    Item& item = items_[i];
    const auto makers = makers_.of(i), users = users_.of(i);
    const NodeId began = item.begins;
    if (!item.begins_fixed) {
      item.begins = *std::min_element(makers.begin(), makers.end(), earlier);
      allocated_[item.begins.index()] += item.bytes;
    }
    if (item.ends_fixed) continue;
    // Whoever was last still is, unless it moved or what moved is behind it now.
    NodeId last = item.ends;
    if (users.empty())
      last = item.begins;
    else if (is_in_block(last) || last == began)
      last = *std::max_element(users.begin(), users.end(), earlier);
    else
      for (const NodeId id : block)
        if (earlier(last, id) && std::find(users.begin(), users.end(), id) != users.end())
          last = id;
    if (!item.begins_fixed && earlier(last, item.begins)) last = item.begins;
    item.ends = last;
    freed_[last.index()] += item.bytes;
  }
  sum_up(calls, changed);
}

}  // namespace jointer
