#pragma once

// The predicted kernels as lanes of a timeline, prepared once for all zoom levels. No widgets.
//
// In program order, a kernel has an item for each stretch of its nodes: nodes that run in no kernel
// do not end a stretch, those of another kernel do. A node that runs in several kernels is shown in
// SnapshotKernels::row_of. On an axis of time, kernels run one after another in their order.
// Collectives overlap with them: each starts after its predecessors in its process group, and its
// wait lasts until it has ended.

#include <cstdint>
#include <span>
#include <vector>

#include "views/session/kernels/snapshot_kernels.h"

namespace jointer::views {

class KernelLanes {
 public:
  // `kernels` must not be null. `kind`: all axes of time are the same. Cost: linear in nodes.
  KernelLanes(SnapshotKernelsPtr kernels, AxisKind kind);

  [[nodiscard]] const SnapshotKernels& kernels() const { return *kernels_; }
  [[nodiscard]] const SnapshotKernelsPtr& shared_kernels() const { return kernels_; }
  // At least one. On axes of time, collectives follow in a second lane if there are any.
  // LaneItem::kernel is the kernel's row, and LaneItem::node its first node, which may be invalid.
  [[nodiscard]] const std::vector<Lane>& lanes() const { return lanes_; }
  // When the last kernel ends or, in program order, the number of nodes.
  [[nodiscard]] std::int64_t length() const { return length_; }

  struct Place {
    std::size_t lane = 0;
    std::int64_t begin = 0, end = 0;
  };
  // The items of a kernel; empty if it launches nothing.
  [[nodiscard]] std::span<const Place> places(std::size_t row) const {
    return std::span(places_).subspan(first_place_[row], first_place_[row + 1] - first_place_[row]);
  }

 private:
  void place_in_program_order();
  void place_in_time();
  void add_lanes();
  void find_places();
  [[nodiscard]] LaneItem item(std::size_t row, std::int64_t begin, std::int64_t end) const;

  SnapshotKernelsPtr kernels_;
  std::vector<LaneItem> compute_, collectives_;  // until they become lanes
  std::vector<Lane> lanes_;
  std::int64_t length_ = 1;
  // The places of row n are places_[first_place_[n]] up to [first_place_[n + 1]].
  std::vector<Place> places_;
  std::vector<std::size_t> first_place_;
};

// The color of a kernel: that of its collective, that of the product or attention that it computes,
// or that of operators bound by memory.
ItemColor kernel_color(const SnapshotKernels& kernels, std::size_t row);

}  // namespace jointer::views
