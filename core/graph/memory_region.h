#pragma once

// The part of a storage that a tensor covers, and whether two parts have bytes in common.

#include <cstdint>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

class MemoryRegion {
 public:
  // All of the storage, however large it is.
  MemoryRegion() = default;
  // All of the storage, too, where the tensor does not say exactly which part: its sizes are
  // symbolic, its offset is not known, it has no elements, or its storage is not the one that the
  // capture placed it in.
  MemoryRegion(const Graph& graph, const Tensor& tensor);

  // False: no byte is in both. True: one may be. Both regions are of one storage.
  [[nodiscard]] bool may_overlap(const MemoryRegion& other) const;
  // True: whatever overlaps `other` overlaps this one. False: that is not certain.
  [[nodiscard]] bool covers(const MemoryRegion& other) const;

  friend bool operator==(const MemoryRegion&, const MemoryRegion&) = default;

 private:
  // So many times the same, each so many bytes behind the one before.
  struct Axis {
    std::int64_t count = 0, step = 0;
    friend bool operator==(const Axis&, const Axis&) = default;
  };
  // Bytes from the first to the last, gaps included.
  [[nodiscard]] std::int64_t extent() const;
  // Modulo `period`; false where the region does not fit into one period.
  bool fold(std::int64_t period);

  bool is_whole_ = true;
  std::int64_t start_ = 0, run_ = 0;  // the first run of bytes without a gap
  std::vector<Axis> axes_;            // how runs repeat; steps rise
};

}  // namespace jointer
