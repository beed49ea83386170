#include "core/schedule/movable_order.h"

#include <algorithm>

namespace jointer {

MovableOrder::MovableOrder(std::vector<NodeId> nodes, std::size_t count)
    : nodes_(std::move(nodes)), places_(count, kNone) {
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    places_[nodes_[i].index()] = static_cast<std::uint32_t>(i);
}

Stretch MovableOrder::stretch(std::span<const NodeId> block, std::size_t gap) const {
  return {std::min(place(block.front()), gap),
          std::max(place(block.back()) + 1, gap + block.size())};
}

Stretch MovableOrder::move(std::span<const NodeId> block, std::size_t gap) {
  const Stretch changed = stretch(block, gap);
  scratch_.clear();
  std::size_t next = 0;  // index in the block
  for (std::size_t i = changed.first; i < changed.last; ++i) {
    if (next < block.size() && nodes_[i] == block[next])
      ++next;
    else
      scratch_.push_back(nodes_[i]);
  }
  // No node of the block precedes the stretch, so a gap and the position after it have the same
  // number up to the start of the stretch.
  scratch_.insert(scratch_.begin() + static_cast<std::ptrdiff_t>(gap - changed.first),
                  block.begin(), block.end());
  for (std::size_t i = 0; i < scratch_.size(); ++i) {
    nodes_[changed.first + i] = scratch_[i];
    places_[scratch_[i].index()] = static_cast<std::uint32_t>(changed.first + i);
  }
  return changed;
}

}  // namespace jointer
