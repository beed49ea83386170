#pragma once

// Predicts whether the ranks of a benchmark fit in this machine's memory.

#include <cstdint>
#include <optional>
#include <string>

#include "app/launch/machine.h"
#include "core/bench/request.h"
#include "core/graph/graph.h"

namespace jointer {

// The type of device that the ranks will most likely use.
DeviceType device_of_run(const BenchmarkRequest& request, const Machine& machine);

struct MemoryShortage {
  std::int64_t need_bytes = 0;   // predicted peak per rank
  std::int64_t share_bytes = 0;  // per rank: its share of the free host memory, or its GPU's memory
  int ranks = 1;                 // number of ranks on this machine
  DeviceType device = DeviceType::cpu;
};

// Returns std::nullopt if the ranks fit, or if the machine's memory is unknown. `request` must
// contain the number of ranks (see fit_to_machine).
std::optional<MemoryShortage> memory_shortage(const Graph& graph, const BenchmarkRequest& request,
                                              const Machine& machine);

// "each of the 8 ranks needs 47.8 GiB, but its share of the free memory is 2.70 GiB".
std::string to_text(const MemoryShortage& shortage);

}  // namespace jointer
