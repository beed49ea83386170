#pragma once

// Finds the maximum in any range of an array that changes, with a tree of maxima over blocks of 64
// numbers. An update costs the blocks that the range touches plus the height of the tree; a query
// costs at most two blocks plus that height.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace jointer {

class RangeMaximum {
 public:
  // `values` must outlive this object.
  explicit RangeMaximum(std::span<const std::int64_t> values);

  // Call this after changing the numbers in [first, last).
  void update(std::size_t first, std::size_t last);
  // The maximum in [first, last); the smallest value of the type if the range is empty.
  [[nodiscard]] std::int64_t largest(std::size_t first, std::size_t last) const;

 private:
  [[nodiscard]] std::int64_t scan(std::size_t first, std::size_t last) const;

  std::span<const std::int64_t> values_;
  std::size_t leaves_ = 1;          // a power of two
  std::vector<std::int64_t> tree_;  // the root has index 1; leaves follow inner nodes
};

}  // namespace jointer
