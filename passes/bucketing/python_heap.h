#pragma once

// A binary heap with exactly the array order of Python's heapq, because torch's scheduler iterates
// over that array.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace jointer {

// A min-heap: the smallest item is at the top.
class PythonHeap {
 public:
  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] std::uint64_t top() const { return items_.front(); }
  // The items in the order of heapq's list.
  [[nodiscard]] const std::vector<std::uint64_t>& items() const { return items_; }

  void push(std::uint64_t item) {
    items_.push_back(item);
    sift_toward_top(0, items_.size() - 1);
  }

  void pop() {
    const std::uint64_t last = items_.back();
    items_.pop_back();
    if (items_.empty()) return;
    items_.front() = last;
    sift_from(0);
  }

  // Removes the items at `indices`, which must be ascending.
  void erase(const std::vector<std::size_t>& indices) {
    if (indices.empty()) return;
    for (std::size_t i = indices.size(); i-- > 0;)
      items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(indices[i]));
    for (std::size_t i = items_.size() / 2; i-- > 0;) sift_from(i);
  }

 private:
  void sift_toward_top(std::size_t start, std::size_t at) {
    const std::uint64_t item = items_[at];
    while (at > start) {
      const std::size_t parent = (at - 1) / 2;
      if (item >= items_[parent]) break;
      items_[at] = items_[parent];
      at = parent;
    }
    items_[at] = item;
  }

  // Like heapq: moves the smaller child up at each level until a leaf is free, places the item
  // there, and sifts it up to its position.
  void sift_from(std::size_t at) {
    const std::size_t start = at, end = items_.size();
    const std::uint64_t item = items_[at];
    for (std::size_t child = 2 * at + 1; child < end; child = 2 * at + 1) {
      if (child + 1 < end && items_[child] >= items_[child + 1]) ++child;
      items_[at] = items_[child];
      at = child;
    }
    items_[at] = item;
    sift_toward_top(start, at);
  }

  std::vector<std::uint64_t> items_;
};

}  // namespace jointer
