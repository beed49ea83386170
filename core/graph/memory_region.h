#pragma once

// Computes the bytes of a storage that a tensor covers, and overlap between such regions.

#include <cstdint>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

class MemoryRegion {
 public:
  // All of the storage, whatever its size.
  MemoryRegion() = default;
  // The tensor's bytes; all of the storage if they are not known exactly: sizes are symbolic, the
  // offset is unknown, there are no elements, or the storage is not the captured one.
  MemoryRegion(const Graph& graph, const Tensor& tensor);

  // False if no byte is in both, true if one may be. Both regions must belong to the same storage.
  [[nodiscard]] bool may_overlap(const MemoryRegion& other) const;
  // True if everything that overlaps `other` also overlaps this region; false if that is uncertain.
  [[nodiscard]] bool covers(const MemoryRegion& other) const;

  friend bool operator==(const MemoryRegion&, const MemoryRegion&) = default;

 private:
  // The pattern repeats `count` times, at intervals of `step` bytes.
  struct Axis {
    std::int64_t count = 0, step = 0;
    friend bool operator==(const Axis&, const Axis&) = default;
  };
  // Bytes from the first to the last, including gaps.
  [[nodiscard]] std::int64_t extent() const;
  // Replaces the region by itself modulo `period`. Returns false, and leaves the region undefined,
  // if it does not fit into one period.
  bool fold(std::int64_t period);

  bool is_whole_ = true;
  std::int64_t start_ = 0, run_ = 0;  // the first run, in bytes
  std::vector<Axis> axes_;            // how runs repeat; steps increase
};

}  // namespace jointer
