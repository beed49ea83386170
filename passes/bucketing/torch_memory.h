#pragma once

// Counts live bytes while an order is being built, like torch's MemoryTracker
// (torch/_inductor/fx_passes/memory_estimator.py). The capture's storages count, except those on
// the CPU. Placeholders and constants are live from the start. The storages of nodes with a name
// that begins with `primals`, and storages that an output or nothing reads, stay live to the end.

#include <cstdint>
#include <vector>

#include "passes/bucketing/overlap_graph.h"

namespace jointer {

// Allocations and reads by position, computed once per graph and shared by all its orders.
struct TorchStorages {
  explicit TorchStorages(const OverlapGraph& graph);

  std::vector<std::int64_t> bytes;     // by storage
  std::vector<std::uint32_t> readers;  // by storage: number of nodes that read it
  std::vector<bool> is_released;       // by storage: true if released after the last reader
  PlaceLists allocated, read;          // by position: numbers of storages
  std::int64_t at_start = 0;
};

class TorchMemory {
 public:
  explicit TorchMemory(const TorchStorages& storages)
      : storages_(storages), readers_(storages.readers), now_(storages.at_start) {}

  // Runs the node. Placeholders, constants and outputs have no effect.
  void run(Place place);

  [[nodiscard]] std::int64_t now() const { return now_; }        // after the last node's releases
  [[nodiscard]] std::int64_t within() const { return within_; }  // before its releases

 private:
  const TorchStorages& storages_;
  std::vector<std::uint32_t> readers_;  // by storage: number of readers that have not run
  std::int64_t now_, within_ = 0;
};

}  // namespace jointer
