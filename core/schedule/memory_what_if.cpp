// Updates live bytes when calls move.
//
// Terms
//   item    memory that is allocated and freed once: a storage, a collective's copy, or optimizer
//           state. Unless fixed, its lifetime begins at the first call that returns a tensor in it,
//           and ends after the last call that uses it. MemoryTimeline::lifetimes determines which
//           items exist and what else keeps them live.
//   fixed   describes the beginning or the end of a lifetime if no move changes it: parameters
//           begin with the step, outputs end with it, and tangents begin with the backward. Nothing
//           moves across placeholders and outputs, so these keep their positions in the order of
//           calls.
//
// The bytes at a position are the sum over the fixed beginnings and ends before it, which never
// changes, and the sum over the calls before it of the items that begin and end with each call.
// Only items that the moved calls touch can change the call with which they begin or end; all other
// items move with their calls.
//
// A move
//   1. Subtracts the items that the block touches from the sums of the calls with which they begin
//      and end.
//   2. Finds the new first makers and last users of these items, and adds them there.
//   3. Recomputes the bytes in the stretch in which calls moved. After the stretch, nothing
//      changes, since the stretch allocates and frees the same items.
//   Cost: linear in the stretch and in the makers and users of the items that the block touches;
//   the users of an item may be searched once per call of the block.

#include "core/schedule/memory_what_if.h"

#include <algorithm>

namespace jointer {

MemoryWhatIf::MemoryWhatIf(const Graph& graph, const MemoryOptions& options,
                           const MovableOrder& calls)
    : found_(graph, options, calls),
      high_(calls.size(), 0),
      low_(calls.size(), 0),
      highest_(high_) {
  sum_up(calls, {0, calls.size()});
}

void MemoryWhatIf::sum_up(const MovableOrder& calls, Stretch stretch) {
  std::int64_t live =
      stretch.first == 0 ? 0 : low_[stretch.first - 1] - found_.fixed_low[stretch.first - 1];
  for (std::size_t place = stretch.first; place < stretch.last; ++place) {
    const std::size_t node = calls[place].index();
    live += found_.allocated[node];
    high_[place] = found_.fixed_high[place] + live;
    live -= found_.freed[node];
    low_[place] = found_.fixed_low[place] + live;
  }
  highest_.update(stretch.first, stretch.last);
}

std::int64_t MemoryWhatIf::peak_bytes() const {
  return std::max(found_.start_bytes, highest_.largest(0, high_.size()));
}

std::vector<std::int64_t> MemoryWhatIf::profile() const {
  std::vector<std::int64_t> points{found_.start_bytes};
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
    const auto touched = found_.of_node.of(id.index());
    items.insert(items.end(), touched.begin(), touched.end());
  }
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

bool MemoryWhatIf::allocates(std::span<const NodeId> block) const {
  return std::ranges::any_of(block, [&](NodeId id) {
    return std::ranges::any_of(found_.of_node.of(id.index()), [&](std::uint32_t i) {
      return !found_.items[i].begins_fixed &&
             std::ranges::find(block, found_.items[i].begins) != block.end();
    });
  });
}

void MemoryWhatIf::detach(std::span<const NodeId> block) {
  touched_by(block, detached_);
  for (const std::uint32_t i : detached_) {
    const Item& item = found_.items[i];
    if (!item.begins_fixed) found_.allocated[item.begins.index()] -= item.bytes;
    if (!item.ends_fixed) found_.freed[item.ends.index()] -= item.bytes;
  }
}

void MemoryWhatIf::attach(std::span<const NodeId> block, const MovableOrder& calls,
                          Stretch changed) {
  const std::size_t first = calls.place(block.front());
  const auto is_in_block = [&](NodeId id) { return calls.place(id) - first < block.size(); };
  const auto earlier = [&](NodeId a, NodeId b) { return calls.place(a) < calls.place(b); };
  for (const std::uint32_t i : detached_) {
    Item& item = found_.items[i];
    const auto makers = found_.makers.of(i), users = found_.users.of(i);
    const NodeId began = item.begins;
    if (!item.begins_fixed) {
      item.begins = *std::min_element(makers.begin(), makers.end(), earlier);
      found_.allocated[item.begins.index()] += item.bytes;
    }
    if (item.ends_fixed) continue;
    // The last user is the same as before unless it moved or a moved user now comes after it.
    NodeId last = item.ends;
    if (users.empty())
      last = item.begins;
    else if (is_in_block(last) || last == began)
      last = *std::max_element(users.begin(), users.end(), earlier);
    else
      for (const NodeId id : block)
        if (earlier(last, id) && std::ranges::find(users, id) != users.end()) last = id;
    if (!item.begins_fixed && earlier(last, item.begins)) last = item.begins;
    item.ends = last;
    found_.freed[last.index()] += item.bytes;
  }
  sum_up(calls, changed);
}

}  // namespace jointer
