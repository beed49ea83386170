#pragma once

// Kernels of any source as lanes of a timeline, prepared once for all zoom levels.
//
// In program order, a kernel has an item for each stretch of its nodes. A node of another kernel
// ends a stretch; one that runs in no kernel, or in one that launches nothing, does not. A node
// that runs in several kernels is shown in the one that SnapshotKernels::row_of returns. On an axis
// of time, kernels run one after another in their order. Collectives overlap with them: each starts
// once the previous one on its stream has ended, and its wait lasts until it has ended.

#include <cstdint>
#include <span>
#include <vector>

#include "views/session/kernels/snapshot_kernels.h"

namespace jointer::views {

class KernelLanes {
 public:
  // `kernels` must not be null. The lanes are the same for all axes of time. Cost: linear in nodes.
  KernelLanes(SnapshotKernelsPtr kernels, AxisKind kind);

  [[nodiscard]] const SnapshotKernels& kernels() const { return *kernels_; }
  [[nodiscard]] const SnapshotKernelsPtr& shared_kernels() const { return kernels_; }
  // One lane; on axes of time, also one for collectives if there are any. LaneItem::kernel is the
  // kernel's row, and LaneItem::node its first node, which is invalid if the kernel has no nodes.
  [[nodiscard]] const std::vector<Lane>& lanes() const { return lanes_; }
  // On axes of time, the end of the last kernel in nanoseconds; in program order, the number of
  // nodes that run. At least 1.
  [[nodiscard]] std::int64_t length() const { return length_; }
  // The number of kernels that launch but have no item: in program order, those that row_of
  // returns for no node; on an axis of time, those without a time. A measured kernel in the C++
  // function of another one has the item of that one.
  [[nodiscard]] std::size_t left_out() const { return left_out_; }

  struct Place {
    std::size_t lane = 0;
    std::int64_t begin = 0, end = 0;
  };
  // The items of a kernel; empty for a kernel without any, such as one that launches nothing.
  [[nodiscard]] std::span<const Place> places(std::size_t row) const {
    return std::span(places_).subspan(first_place_[row], first_place_[row + 1] - first_place_[row]);
  }

 private:
  void place_in_program_order();
  void place_in_time();
  void add_lanes();
  void find_places(AxisKind kind);
  [[nodiscard]] LaneItem item(std::size_t row, std::int64_t begin, std::int64_t end) const;

  SnapshotKernelsPtr kernels_;
  std::vector<LaneItem> compute_, collectives_;  // until they become lanes
  std::vector<Lane> lanes_;
  std::int64_t length_ = 1;
  std::size_t left_out_ = 0;
  // The places of row n begin at places_[first_place_[n]] and end before those of row n + 1.
  std::vector<Place> places_;
  std::vector<std::size_t> first_place_;
};

// The color of a kernel: that of the collective, matrix product or attention that it runs, or else
// ItemColor::memory.
ItemColor kernel_color(const SnapshotKernels& kernels, std::size_t row);

}  // namespace jointer::views
