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
  EstimatorRequest estimator;  // no device: one of the type memory.runs_on or of the main device
  SimulationOptions simulation;
};

// Everything that is computed from a graph under one set of options, for the desktop and for
// exports. Holds no reference to the graph, but is valid only until the graph changes.
struct Analysis {
  AnalysisOptions options;
  std::string estimator;  // Estimator::description_of
  DeviceDescription device;
  ModuleTree modules;
  MemoryTimeline memory;
  ReservedProfile reserved;
  std::vector<NodeCost> costs;  // indexed by node id
  TransferCosts transfers;      // costs of copies to and from the host
  std::vector<Flops> flops;     // indexed by node id
  Simulation simulation;
  GraphFlops total_flops;
  ModelFacts model;
  Throughput throughput;
};

// Errors: same as `make_estimator`.
Result<Analysis> analyze(const Graph& graph, const AnalysisOptions& options = {});

}  // namespace jointer
