#pragma once

// Computes totals for a range of the simulated step: the nodes that run in it, their time in it,
// and the memory that is allocated and freed in it. The rules are at the top of range_figures.cpp.

#include <cstdint>
#include <span>
#include <vector>

#include "core/schedule/analysis.h"
#include "core/schedule/time_range.h"

namespace jointer {

TimeRange whole_step(const Simulation& simulation);

// The relation between a storage's lifetime and a range.
enum class RangeChange : std::uint8_t {
  allocated,  // allocated in the range and live at its end
  passing,    // allocated and freed in the range
  freed,      // live at the start of the range and freed in it
  unchanged,  // live throughout the range
  outside,    // not live in the range
};
inline constexpr std::size_t kRangeChanges = 5;

struct RangeTotals {
  std::size_t nodes = 0;              // nodes that run in the range
  std::size_t recomputed = 0;         // those of them that recompute a value of the forward
  std::int64_t compute_ns = 0;        // of kernels
  std::int64_t communication_ns = 0;  // of collectives, and of copies to and from the host
  std::int64_t exposed_ns = 0;
  std::int64_t flops = 0;  // of the nodes in the range, in full

  std::size_t allocated = 0, freed = 0;  // storages
  std::int64_t allocated_bytes = 0, freed_bytes = 0;
  // Live bytes before the first and after the last memory event in the range, and the maximum.
  // end_bytes = begin_bytes + allocated_bytes - freed_bytes.
  std::int64_t begin_bytes = 0, end_bytes = 0, peak_bytes = 0;
};

// Holds no reference to the graph or the analysis, but is valid only until the graph changes.
class RangeFigures {
 public:
  // Clips the range to the step. Cost: linear in nodes and storages.
  RangeFigures(const Graph& graph, const Analysis& analysis, TimeRange range);

  [[nodiscard]] TimeRange range() const { return range_; }
  [[nodiscard]] const RangeTotals& totals() const { return totals_; }

  // Returns true if at least part of the node runs in the range or, for a collective, if the
  // compute stream waits for it there.
  [[nodiscard]] bool contains(NodeId node) const { return ns_[node.index()] >= 0; }
  // The part of the node's device time that is in the range; 0 for a wait.
  [[nodiscard]] std::int64_t ns(NodeId node) const {
    return contains(node) ? ns_[node.index()] : 0;
  }
  // The exposed time, within the range, of the collective or copy that the node starts; 0 for other
  // nodes.
  [[nodiscard]] std::int64_t exposed_ns(NodeId start) const { return exposed_ns_[start.index()]; }

  [[nodiscard]] RangeChange change_of(const Lifetime& lifetime) const;

 private:
  void add_nodes(const Graph& graph, const Analysis& analysis);
  void add_exposed(const Simulation& simulation);
  void add_memory(const Graph& graph, const Analysis& analysis);
  [[nodiscard]] std::int64_t overlap(std::int64_t begin, std::int64_t end) const;
  [[nodiscard]] bool touches(std::int64_t begin, std::int64_t end) const;

  TimeRange range_;
  std::int64_t step_ns_;
  std::vector<std::int64_t> ns_;          // by node id; -1 if not in the range
  std::vector<std::int64_t> exposed_ns_;  // by node id
  // Points of the memory profile: the last one before the memory events in the range, and the last
  // of these events.
  std::size_t first_point_ = 0, last_point_ = 0;
  RangeTotals totals_;
};

}  // namespace jointer
