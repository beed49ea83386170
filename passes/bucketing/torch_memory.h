#pragma once

// Live bytes of an order that is being made, as torch's MemoryTracker counts them
// (torch/_inductor/fx_passes/memory_estimator.py): by the capture's storages, everything but the
// CPU's; placeholders and constants live from the start, what `primals` brought to the end, and so
// does what nobody reads.

#include <cstdint>
#include <vector>

#include "passes/bucketing/overlap_graph.h"

namespace jointer {

// What each place allocates and reads: made once a graph, shared by every order of it.
struct TorchStorages {
  explicit TorchStorages(const OverlapGraph& graph);

  std::vector<std::int64_t> bytes;     // by storage
  std::vector<std::uint32_t> readers;  // by storage: how many nodes read it
  std::vector<bool> is_released;       // by storage: after its last reader
  PlaceLists allocated, read;          // by place: storages
  std::int64_t at_start = 0;
};

class TorchMemory {
 public:
  explicit TorchMemory(const TorchStorages& storages)
      : storages_(storages), readers_(storages.readers), now_(storages.at_start) {}

  // Placeholders, constants and outputs change nothing.
  void run(Place place);

  [[nodiscard]] std::int64_t now() const { return now_; }        // after the frees of the last one
  [[nodiscard]] std::int64_t within() const { return within_; }  // before them

 private:
  const TorchStorages& storages_;
  std::vector<std::uint32_t> readers_;  // that have not run
  std::int64_t now_, within_ = 0;
};

}  // namespace jointer
