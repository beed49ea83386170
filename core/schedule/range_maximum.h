#pragma once

// Finds the maximum of any stretch of numbers that change, with a tree of maxima over blocks of 64.
// An update costs the length of the stretch; a query costs 64 plus the height of the tree.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace jointer {

class RangeMaximum {
 public:
  // Refers to the caller's numbers, which must outlive this object.
  explicit RangeMaximum(std::span<const std::int64_t> values);

  // Call after the numbers in [first, last) have changed.
  void update(std::size_t first, std::size_t last);
  // The maximum of [first, last); the smallest value of the type if the stretch is empty.
  [[nodiscard]] std::int64_t largest(std::size_t first, std::size_t last) const;

 private:
  [[nodiscard]] std::int64_t scan(std::size_t first, std::size_t last) const;

  std::span<const std::int64_t> values_;
  std::size_t leaves_ = 1;          // a power of two
  std::vector<std::int64_t> tree_;  // the root is 1, leaves follow the inner nodes
};

}  // namespace jointer
