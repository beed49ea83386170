#include "core/schedule/range_maximum.h"

#include <algorithm>
#include <limits>

namespace jointer {
namespace {

constexpr std::size_t kBlock = 64;
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

}  // namespace

RangeMaximum::RangeMaximum(std::span<const std::int64_t> values) : values_(values) {
  while (leaves_ * kBlock < values.size()) leaves_ *= 2;
  tree_.assign(2 * leaves_, kMin);
  update(0, values.size());
}

std::int64_t RangeMaximum::scan(std::size_t first, std::size_t last) const {
  std::int64_t max = kMin;
  for (std::size_t i = first; i < last; ++i) max = std::max(max, values_[i]);
  return max;
}

void RangeMaximum::update(std::size_t first, std::size_t last) {
  if (first >= last) return;
  std::size_t low = first / kBlock, high = (last - 1) / kBlock;
  for (std::size_t i = low; i <= high; ++i)
    tree_[leaves_ + i] = scan(i * kBlock, std::min((i + 1) * kBlock, values_.size()));
  low += leaves_;
  high += leaves_;
  while (low > 1) {
    low /= 2;
    high /= 2;
    for (std::size_t i = low; i <= high; ++i) tree_[i] = std::max(tree_[2 * i], tree_[2 * i + 1]);
  }
}

std::int64_t RangeMaximum::largest(std::size_t first, std::size_t last) const {
  if (first >= last) return kMin;
  std::size_t low = (first + kBlock - 1) / kBlock, high = last / kBlock;  // whole blocks
  if (low >= high) {
    const std::size_t middle = std::min(low * kBlock, last);
    return std::max(scan(first, middle), scan(middle, last));
  }
  std::int64_t max = std::max(scan(first, low * kBlock), scan(high * kBlock, last));
  for (low += leaves_, high += leaves_; low < high; low /= 2, high /= 2) {
    if (low % 2 == 1) max = std::max(max, tree_[low++]);
    if (high % 2 == 1) max = std::max(max, tree_[--high]);
  }
  return max;
}

}  // namespace jointer
