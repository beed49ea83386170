#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/cost/estimator.h"
#include "core/cost/node_flops.h"
#include "core/cost/throughput.h"
#include "core/graph/graph.h"
#include "core/graph/module_tree.h"
#include "core/schedule/caching_allocator.h"
#include "core/schedule/memory_timeline.h"
#include "core/schedule/simulation.h"

namespace jointer {

struct AnalysisOptions {
  MemoryOptions memory;
  EstimatorRequest estimator;  // an empty device: one that fits the graph, or memory.runs_on
  SimulationOptions simulation;
};

// Everything that is computed from a graph under one set of options: what the desktop shows and the
// exports write. Holds no reference to the graph; it is valid for the graph it was made from, as
// long as that does not change.
struct Analysis {
  AnalysisOptions options;
  std::string estimator;  // Estimator::description
  DeviceDescription device;
  ModuleTree modules;
  MemoryTimeline memory;
  ReservedProfile reserved;
  std::vector<NodeCost> costs;  // by node id
  TransferCosts transfers;      // what copies to the host would take
  std::vector<Flops> flops;     // by node id
  Simulation simulation;
  GraphFlops total_flops;
  ModelFacts model;
  Throughput throughput;
};

// Error (usage): an estimator or device that does not exist.
Result<Analysis> analyze(const Graph& graph, const AnalysisOptions& options = {});

}  // namespace jointer
