#pragma once

// Host memory that the device copies without the host. Torch's allocator of it rounds up to powers
// of two.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>

namespace jointer::test {

class PinnedMemory {
 public:
  void add(const void* data, std::size_t bytes) {
    const auto rounded = static_cast<std::int64_t>(std::bit_ceil(bytes));
    blocks_[data] = rounded;
    bytes_ += rounded;
    peak_ = std::max(peak_, bytes_);
  }
  void remove(const void* data) {
    const auto found = blocks_.find(data);
    if (found == blocks_.end()) return;
    bytes_ -= found->second;
    blocks_.erase(found);
  }
  [[nodiscard]] bool contains(const void* data) const { return blocks_.contains(data); }
  [[nodiscard]] std::int64_t peak() const { return peak_; }
  void reset_peak() { peak_ = bytes_; }

 private:
  std::map<const void*, std::int64_t> blocks_;
  std::int64_t bytes_ = 0, peak_ = 0;
};

}  // namespace jointer::test
