#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "tests/support/snapshots.h"
#include "views/session/snapshot/measured_timeline.h"

namespace jointer::test {

// The small step with a measurement of every node.
class MeasuredSmallStep : public ::testing::Test {
 protected:
  // Each node takes 100 us and starts when the previous one has ended, except that the collective
  // takes 150 us, and the node after it starts 10 us after it has started.
  static Measurement measurement_of_all(const views::Snapshot& s) {
    Measurement m{.label = "rank 0, interpret", .device = "A CPU"};
    std::int64_t at = 0;
    for (const NodeId id : s.analysis.memory.steps()) {
      const bool is_start = s.graph.is_collective_start(s.graph.node(id));
      m.nodes.push_back({id, at, at + (is_start ? 150'000 : 100'000), 100'000});
      at += is_start ? 10'000 : 100'000;
    }
    m.step_ns = at;
    m.memory_profile.assign(s.analysis.memory.profile().begin(), s.analysis.memory.profile().end());
    for (std::int64_t& bytes : m.memory_profile) bytes += 64;
    return m;
  }
  [[nodiscard]] views::MeasuredTimeline lay(Measurement m) const {
    return {snapshot->graph, snapshot->analysis, std::make_shared<Measurement>(std::move(m)),
            snapshot->estimated_time.bands()};
  }
  // Makes the measurement that of a GPU: `mm` launches two kernels and `relu` one on stream 7, and
  // the collective one on stream 21.
  void add_kernels() {
    all.device = "NVIDIA H100 80GB HBM3";
    all.device_type = "cuda";
    all.kernels = {
        {node("mm"), "void at::native::splitK<float>(int)", 7, 0, 60'000},
        {node("mm"), "void at::native::reduce<float>(int)", 7, 60'000, 90'000},
        {node("relu"), "void at::native::clamp<4, float>(int, float)", 7, 100'000, 150'000},
        {node("ar"), "ncclDevKernel_AllReduce(ncclArgs)", 21, 400'000, 540'000}};
  }
  [[nodiscard]] NodeId node(const char* name) const { return snapshot->graph.find(name); }

  views::SnapshotPtr snapshot = snapshot_of(kSmallStep);
  Measurement all = measurement_of_all(*snapshot);
};

}  // namespace jointer::test
