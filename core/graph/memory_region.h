#pragma once

// Computes which bytes of a storage a tensor covers, and whether such regions overlap.

#include <cstdint>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

class MemoryRegion {
 public:
  // The whole storage, whatever its size.
  MemoryRegion() = default;
  // The bytes of a tensor, or the whole storage if the bytes are not known exactly: for example,
  // sizes are symbolic, the offset is unknown, there are no elements, or the storage is not the
  // captured storage.
  MemoryRegion(const Graph& graph, const Tensor& tensor);

  // True if the regions may have a byte in common. Both must belong to the same storage.
  [[nodiscard]] bool may_overlap(const MemoryRegion& other) const;
  // True if everything that overlaps `other` also overlaps this region; false if this is uncertain.
  [[nodiscard]] bool covers(const MemoryRegion& other) const;

  friend bool operator==(const MemoryRegion&, const MemoryRegion&) = default;

 private:
  // Repeats a pattern `count` times, at intervals of `step` bytes.
  struct Axis {
    std::int64_t count = 0, step = 0;
    friend bool operator==(const Axis&, const Axis&) = default;
  };
  // The number of bytes from the first to the last, including gaps.
  [[nodiscard]] std::int64_t extent() const;
  // Reduces the region modulo `period`. If it does not fit into one period, returns false and
  // leaves the region undefined.
  bool fold(std::int64_t period);

  bool is_whole_ = true;
  std::int64_t start_ = 0, run_ = 0;  // the first run, in bytes
  std::vector<Axis> axes_;            // how runs repeat; steps increase
};

}  // namespace jointer
