#pragma once

// The largest of a stretch of numbers that change: blocks of 64 under a tree of maxima. Changing a
// stretch costs its length, asking 64 and the tree's height.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace jointer {

class RangeMaximum {
 public:
  // The numbers are the caller's; they stay where they are.
  explicit RangeMaximum(std::span<const std::int64_t> values);

  // Those in [first, last) have changed.
  void update(std::size_t first, std::size_t last);
  // Of [first, last); of nothing the least number.
  [[nodiscard]] std::int64_t largest(std::size_t first, std::size_t last) const;

 private:
  [[nodiscard]] std::int64_t scan(std::size_t first, std::size_t last) const;

  std::span<const std::int64_t> values_;
  std::size_t leaves_ = 1;          // a power of two
  std::vector<std::int64_t> tree_;  // the root is 1, leaves follow the inner nodes
};

}  // namespace jointer
